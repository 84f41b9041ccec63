#include "kernels/copy/copy.hpp"

#include <cstring>
#include <string>

#include <ricci/error/exceptions.hpp>

#include "kernels/copy/box_copy.hpp"

namespace ricci::kernels {
namespace {

// What a box holds of a line along either side: eight cache lines, from which on reading or writing
// pieces at a power of two from each other is as fast as a stream. For 1 and 2 bytes fewer, so that
// a box stays within packed_bytes.
constexpr std::int64_t line_bytes(std::int64_t element_size) { return element_size < 4 ? 256 : 512; }
constexpr std::int64_t packed_bytes = 64 << 10;
constexpr std::int64_t run_bytes = 128 << 10;

// Below it a target stays in the second cache, where writing it piecewise costs nothing.
constexpr std::int64_t staged_bytes = 256 << 10;

// Runs of 2, 4 or 8 bytes are elements of that size: pairs of f32, pixels of four u8.
void fuse_short_run(box_plan& plan) {
  if (plan.run_begin() == plan.rank || plan.rank < 2) return;
  std::int64_t const bytes = plan.axes[plan.rank - 1].extent * plan.element_size;
  if (bytes != 2 && bytes != 4 && bytes != 8) return;
  plan.rank -= 1;
  plan.element_size = bytes;
}

// Reads pieces of whole lines, writes pieces of whole lines, and transposes between two caches.
void copy_staged(box_plan const& plan) {
  box_plan const into = into_packed(plan);
  box_plan const from = from_packed(plan);
  box_copy const read(into);
  box_copy const write(from);
  for_each_box(plan, [&](box const& b) {
    alignas(64) char packed[packed_bytes];
    read(packed, b.source, b.extents);
    write(b.target, packed, b.extents);
  });
}

}  // namespace

void copy(std::int64_t element_size, int rank, std::int64_t const* extents, void* target,
          std::int64_t const* target_strides, void const* source,
          std::int64_t const* source_strides) {
  box_plan plan = plan_boxes("copy", element_size, rank, extents, target, target_strides, source,
                             source_strides);
  if (plan.is_empty) return;
  fuse_short_run(plan);
  choose_blocks(plan, line_bytes(plan.element_size), run_bytes);
  box_copy const direct(plan);
  if (direct.transposes() && plan.count * plan.element_size > staged_bytes &&
      box_bytes(plan) <= packed_bytes)
    return copy_staged(plan);
  for_each_box(plan, [&](box const& b) { direct(b.target, b.source, b.extents); });
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
