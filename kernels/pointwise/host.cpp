#include <algorithm>
#include <cstring>

#include "kernels/convert/convert.hpp"
#include "kernels/parallel/parallel.hpp"
#include "kernels/pointwise/block_program.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace ricci::kernels {
namespace {

// Places that one thread takes at a time, and operations below which a second thread does not pay.
constexpr std::int64_t chunk = 32768;
constexpr std::int64_t parallel_operations = 65536;

/// How an output is written.
enum class delivery : std::uint8_t {
  direct,   // by the step that computes it
  copy,     // from its register at the end of the block
  convert,  // likewise, rounded to a narrow float
  fill,     // one element for the whole block
};

struct output_plan {
  delivery how;
  dtype from, to;
  value_number value;
  std::byte* data;
};

bool overlaps(pointwise_program const& program, pointwise_output const& output, std::int64_t size) {
  auto const* const begin = static_cast<std::byte const*>(output.data);
  auto const* const end = begin + size * size_of(output.type);
  return std::any_of(program.operands.begin(), program.operands.end(), [&](auto const& operand) {
    auto const* const data = static_cast<std::byte const*>(operand.data);
    return data >= begin && data < end;
  });
}

output_plan plan_output(pointwise_program const& program, block_program const& compiled,
                        std::size_t i) {
  auto const& output = program.outputs[i];
  value_number const v = compiled.outputs[i];
  output_plan plan{delivery::copy, compiled.types[v], output.type, v,
                   static_cast<std::byte*>(output.data)};
  if (compiled.scalars[v]) {
    plan.how = delivery::fill;
    return plan;
  }
  if (plan.from != plan.to) {
    plan.how = delivery::convert;
    return plan;
  }
  // Written at once by its step, unless that is not run for every block, another output has it
  // already, or an operand in the same memory may still be read.
  for (int s = 0; s < compiled.step_count; ++s) {
    auto const& step = compiled.steps[static_cast<std::size_t>(s)];
    if (step.out != v || step.once) continue;
    bool const last = s + 1 == compiled.step_count && program.outputs.size() == 1;
    bool const taken = std::count(compiled.outputs.begin(),
                                  compiled.outputs.begin() + static_cast<std::ptrdiff_t>(i), v) > 0;
    if (!taken && (last || !overlaps(program, output, compiled.size))) plan.how = delivery::direct;
  }
  return plan;
}

void deliver(output_plan const& output, block_cursor const& cursor, std::int64_t begin,
             std::int64_t n) {
  std::int64_t const size = size_of(output.to);
  std::byte* const target = output.data + begin * size;
  void const* const source = cursor.at(output.value);
  switch (output.how) {
    case delivery::direct:
      return;
    case delivery::copy:
      if (source != target) std::memcpy(target, source, static_cast<std::size_t>(n * size));
      return;
    case delivery::convert:
      convert(source, output.from, target, output.to, n);
      return;
    case delivery::fill: {
      std::uint64_t one = 0;
      convert(source, output.from, &one, output.to, 1);
      fill_block(target, &one, size, n);
      return;
    }
  }
}

}  // namespace

void run(pointwise_program const& program) {
  block_program compiled;
  compile(program, true, compiled);
  if (compiled.size == 0) return;
  std::array<output_plan, max_pointwise_outputs> outputs;
  auto const count = program.outputs.size();
  for (std::size_t i = 0; i < count; ++i) outputs[i] = plan_output(program, compiled, i);

  auto const run_range = [&](std::int64_t begin, std::int64_t end) {
    block_cursor cursor(compiled);
    for (std::int64_t n; begin < end; begin += n) {
      n = cursor.length(begin, end - begin);
      for (std::size_t i = 0; i < count; ++i)
        if (outputs[i].how == delivery::direct)
          cursor.place(outputs[i].value, outputs[i].data + begin * size_of(outputs[i].to));
      cursor.evaluate(begin, n);
      for (std::size_t i = 0; i < count; ++i) deliver(outputs[i], cursor, begin, n);
    }
  };
  std::int64_t const operations = 1 + compiled.load_count + compiled.step_count;
  if (compiled.size < 2 * block_limit || compiled.size < parallel_operations / operations)
    run_range(0, compiled.size);
  else
    // Whole blocks, and at least two chunks for what is worth more than one thread.
    parallel_chunks(compiled.size,
                    std::max<std::int64_t>(1, std::min(chunk, compiled.size / 8) / compiled.block) *
                        compiled.block,
                    run_range);
}

}  // namespace ricci::kernels
