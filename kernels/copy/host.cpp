#include "kernels/copy/copy.hpp"

#include <cstring>
#include <string>

#include <ricci/error/exceptions.hpp>

#include "kernels/copy/box_copy.hpp"

namespace ricci::kernels {
namespace {

constexpr std::int64_t line_bytes = 256;
constexpr std::int64_t run_bytes = 128 << 10;

// Runs of 2, 4 or 8 bytes are elements of that size: pairs of f32, pixels of four u8.
void fuse_short_run(box_plan& plan) {
  if (!plan.has_run() || plan.rank < 2) return;
  std::int64_t const bytes = plan.axes[plan.rank - 1].extent * plan.element_size;
  if (bytes != 2 && bytes != 4 && bytes != 8) return;
  plan.rank -= 1;
  plan.element_size = bytes;
}

}  // namespace

void copy(std::int64_t element_size, int rank, std::int64_t const* extents, void* target,
          std::int64_t const* target_strides, void const* source,
          std::int64_t const* source_strides) {
  box_plan plan = plan_boxes("copy", element_size, rank, extents, target, target_strides, source,
                             source_strides);
  if (plan.is_empty) return;
  fuse_short_run(plan);
  choose_blocks(plan, line_bytes, run_bytes);
  box_copy const kernel(plan);
  for_each_box(plan, [&](box const& b) { kernel(b.target, b.source, b.extents); });
}

void fill(std::int64_t element_size, int rank, std::int64_t const* extents, void* target,
          std::int64_t const* target_strides, void const* value) {
  std::int64_t const still[max_copy_rank] = {};
  copy(element_size, rank, extents, target, target_strides, value, still);
}

void zero(void* target, std::int64_t bytes) {
  if (bytes < 0)
    throw value_error("zero: got " + std::to_string(bytes) + " bytes; there are at least 0.");
  constexpr std::int64_t grain = 256 << 10;
  if (bytes < 4 * grain) {
    if (bytes > 0) std::memset(target, 0, static_cast<std::size_t>(bytes));
    return;
  }
  parallel_chunks(bytes, grain, [target](std::int64_t begin, std::int64_t end) {
    std::memset(static_cast<char*>(target) + begin, 0, static_cast<std::size_t>(end - begin));
  });
}

}  // namespace ricci::kernels
