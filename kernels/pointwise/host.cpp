#include <algorithm>
#include <cstring>

#include "kernels/convert/convert.hpp"
#include "kernels/parallel/parallel.hpp"
#include "kernels/pointwise/block_program.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "kernels/simd/stream.hpp"

namespace ricci::kernels {
namespace {

// Places that one thread takes at a time, and operations below which a second thread does not pay.
constexpr std::int64_t chunk = 32768;
constexpr std::int64_t parallel_operations = 65536;

// An output of so many bytes passes the caches by: what is written here is not read before.
constexpr std::int64_t streamed_bytes = std::int64_t{16} << 20;

/// How an output is written.
enum class delivery : std::uint8_t {
  direct,   // by the step that computes it
  copy,     // from its register at the end of the block
  stream,   // likewise, past the caches
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
  if (compiled.size >= streamed_bytes / size_of(plan.to)) {
    plan.how = delivery::stream;
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
    case delivery::stream:
      stream_run(reinterpret_cast<char*>(target), static_cast<char const*>(source), n * size);
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

class program_run {
 public:
  explicit program_run(pointwise_program const& program) : count_(program.outputs.size()) {
    compile(program, true, program_);
    for (std::size_t i = 0; i < count_ && program_.size > 0; ++i)
      outputs_[i] = plan_output(program, program_, i);
  }

  void run() const {
    if (program_.size == 0) return;
    std::int64_t const operations = 1 + program_.load_count + program_.step_count;
    bool const is_small =
        program_.size < 2 * block_limit || program_.size < parallel_operations / operations;
    if (program_.panel_axis >= 0)
      run_panels();
    else if (is_small)
      run_range(0, program_.size);
    else
      // Whole blocks, and several chunks for what is worth more than one thread.
      parallel_chunks(
          program_.size,
          std::max<std::int64_t>(1, std::min(chunk, program_.size / 8) / program_.block) *
              program_.block,
          [this](std::int64_t begin, std::int64_t end) { run_range(begin, end); });
  }

 private:
  void run_block(block_cursor& cursor, std::int64_t begin, std::int64_t n) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (outputs_[i].how == delivery::direct)
        cursor.place(outputs_[i].value, outputs_[i].data + begin * size_of(outputs_[i].to));
    cursor.evaluate(begin, n);
    for (std::size_t i = 0; i < count_; ++i) deliver(outputs_[i], cursor, begin, n);
  }

  void run_range(std::int64_t begin, std::int64_t end) const {
    block_cursor cursor(program_);
    for (std::int64_t n; begin < end; begin += n) {
      n = cursor.length(begin, end - begin);
      run_block(cursor, begin, n);
    }
    finish_streams();
  }

  // The result as [before, panel axis, after, row], in tiles of panel_rows places along the panel
  // axis and a block along the row.
  void run_panels() const {
    auto const axis = static_cast<std::size_t>(program_.panel_axis);
    std::int64_t after = 1;
    for (std::size_t a = axis + 1; a + 1 < static_cast<std::size_t>(program_.rank); ++a)
      after *= program_.extents[a];
    std::int64_t const extent = program_.extents[axis], row = program_.row;
    std::int64_t const parts = (row - 1) / program_.block + 1;
    std::int64_t const panels = (extent - 1) / panel_rows + 1;
    std::int64_t const before = program_.size / (extent * after * row);
    std::int64_t const tile = panel_rows * std::min(row, program_.block);
    parallel_chunks(before * panels * after * parts, std::max<std::int64_t>(1, chunk / tile),
                    [&](std::int64_t first, std::int64_t last) {
                      block_cursor cursor(program_);
                      for (std::int64_t t = first; t < last; ++t) {
                        std::int64_t const part = t % parts, a = t / parts % after;
                        std::int64_t const panel = t / parts / after % panels;
                        std::int64_t const b = t / parts / after / panels;
                        std::int64_t const from = panel * panel_rows, step = after * row;
                        std::int64_t const begin =
                            ((b * extent + from) * after + a) * row + part * program_.block;
                        std::int64_t const rows = std::min(panel_rows, extent - from);
                        std::int64_t const n = cursor.length(begin, row);
                        cursor.fill_panels(begin, rows, n);
                        for (std::int64_t r = 0; r < rows; ++r) {
                          if (r + 1 < rows) cursor.prefetch(begin + (r + 1) * step, n);
                          run_block(cursor, begin + r * step, n);
                        }
                      }
                      finish_streams();
                    });
  }

  std::size_t count_;
  block_program program_;
  std::array<output_plan, max_pointwise_outputs> outputs_;
};

}  // namespace

void run(pointwise_program const& program) { program_run(program).run(); }

}  // namespace ricci::kernels
