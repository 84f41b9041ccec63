#include "kernels/reduce/user.hpp"

#include <algorithm>

#include <ricci/error/exceptions.hpp>

#include "kernels/convert/convert.hpp"
#include "kernels/parallel/parallel.hpp"
#include "kernels/pointwise/block_program.hpp"
#include "kernels/reduce/plan.hpp"

namespace ricci::kernels {
namespace {

constexpr std::int64_t task_places = 16384;  // a user's function is slow

}  // namespace

void reduce_by_user(pointwise_program const& source, std::uint32_t reduced, void* output,
                    dtype output_type, user_reduction const* user) {
  if (user == nullptr || user->combine == nullptr || user->identity == nullptr)
    throw value_error(
        "reduce: a reduction of the user's needs an identity and a combine function.");
  reduce_plan plan;
  make_plan(source, reduced, {false, true}, plan);
  block_program compiled;
  compile(plan.program, false, compiled);
  value_number const value = compiled.outputs[0];
  dtype const computed = compiled.types[value], type = plan.program.outputs[0].type;
  std::int64_t const size = size_of(type), output_size = size_of(output_type);
  if (plan.results == 0) return;

  std::int64_t const rows =
      std::max<std::int64_t>(1, task_places / std::max<std::int64_t>(1, plan.count));
  parallel_chunks(plan.results, rows, [&](std::int64_t first, std::int64_t last) {
    // Accumulators side by side, as many as the longest block has elements; folded at the end.
    alignas(64) std::byte accumulators[8 * block_limit], block[8 * block_limit], one[8];
    block_cursor cursor(compiled);
    for (std::int64_t row = first; row < last; ++row) {
      std::int64_t held = std::max<std::int64_t>(1, std::min(block_limit, plan.count));
      fill_block(accumulators, user->identity, size, held);
      std::int64_t const end = (row + 1) * plan.count;
      for (std::int64_t begin = row * plan.count, n; begin < end; begin += n) {
        n = cursor.length(begin, end - begin);
        cursor.evaluate(begin, n);
        if (compiled.scalars[value]) {
          convert(cursor.at(value), computed, one, type, 1);
          fill_block(block, one, size, n);
        } else {
          convert(cursor.at(value), computed, block, type, n);
        }
        user->combine(accumulators, block, n);
      }
      for (; held > 1; held -= held / 2)
        user->combine(accumulators, accumulators + (held - held / 2) * size, held / 2);
      convert(accumulators, type, static_cast<std::byte*>(output) + row * output_size, output_type,
              1);
    }
  });
}

}  // namespace ricci::kernels
