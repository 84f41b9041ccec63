#include "kernels/copy/copy.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <unistd.h>

#include <ricci/error/exceptions.hpp>

#include "kernels/copy/box_copy.hpp"
#include "kernels/copy/strip.hpp"

namespace ricci::kernels {
namespace {

constexpr std::int64_t run_bytes = 128 << 10;

// Of targets that the caches can hold: both sides' pieces stay in L1 while a box is at work.
constexpr box_shape near_shape{512, 256, run_bytes};

// Of larger ones: what is read are pairs of lines, what is written runs so long that their ends,
// which pass through the caches, hardly count.
constexpr std::int64_t far_target = 1024;
constexpr box_shape line_shape{1024, 128, run_bytes};
constexpr std::int64_t packed_bytes = 128 << 10;
constexpr std::int64_t long_row = 1024;
constexpr std::int64_t least_strip = 64;

// Runs of 2, 4 or 8 bytes are elements of that size: pairs of f32, pixels of four u8.
void fuse_short_run(box_plan& plan) {
  if (plan.run_begin() == plan.rank || plan.rank < 2) return;
  std::int64_t const bytes = plan.axes[plan.rank - 1].extent * plan.element_size;
  if (bytes != 2 && bytes != 4 && bytes != 8) return;
  plan.rank -= 1;
  plan.element_size = bytes;
}

void copy_boxes(box_plan const& plan, bool streams) {
  box_copy const kernel(plan, streams);
  for_each_box(plan, [&](box const& b) { kernel(b.target, b.source, b.extents); });
}

// A transposition of rows that are long on both sides: strips of the source's rows, along the
// target's.
void copy_strips(box_plan& plan, int inner, int outer) {
  for (int axis = 0; axis < plan.rank; ++axis) plan.axes[axis].block = 1;
  std::int64_t const width =
      (plan.element_size == 1 ? strip_bytes<std::uint8_t> : strip_bytes<std::uint64_t>) /
      plan.element_size;
  plan.axes[outer].block = std::min(plan.axes[outer].extent, width);
  plan.axes[inner].block = std::min(plan.axes[inner].extent, 16384 / plan.element_size);
  copy_boxes(plan, true);
}

// Short rows, short runs: boxes are put in the target's order nearby, and leave in
// runs. False: they would be too large.
bool copy_packed(box_plan const& plan) {
  box_plan const into = into_packed(plan);
  if (packed_size(into) > packed_bytes) return false;
  box_plan const from = from_packed(plan);
  box_copy const read(into);
  box_copy const write(from, true);
  for_each_box(plan, [&](box const& b) {
    alignas(64) char packed[packed_bytes];
    read(packed, b.source, b.extents);
    write(b.target, packed, b.extents);
  });
  return true;
}

// Do squares in registers fill whole lines of the target?
bool fills_lines(box_plan const& plan) {
  int const last = plan.rank - 1;
  bool fills = tile<std::uint16_t>::fills_lines && line_offset(plan.target) == 0 &&
               plan.axes[last].extent * plan.element_size % cache_line == 0;
  for (int axis = 0; axis < last; ++axis) fills = fills && plan.axes[axis].target % cache_line == 0;
  return fills;
}

// A target that the caches do not hold, in another order than the source.
void copy_far(box_plan& plan, box_copy const& direct) {
  std::int64_t const size = plan.element_size;
  if (direct.transposes() && plan.axes[direct.inner()].extent * size >= long_row &&
      plan.axes[direct.outer()].extent * size >= least_strip)
    return copy_strips(plan, direct.inner(), direct.outer());
  if (direct.transposes() && fills_lines(plan)) {
    choose_blocks(plan, line_shape);
    return copy_boxes(plan, true);
  }
  int const run = plan.run_begin();
  std::int64_t const bytes = run < plan.rank ? plan.axes[run].extent * size : 0;
  bool const has_lines = bytes % cache_line == 0 && line_offset(plan.target) == 0;
  if (direct.transposes() || (bytes > 0 && bytes < 256 && !has_lines)) {
    std::int64_t const unit = std::max(bytes, size);
    choose_blocks(plan, {far_target, std::clamp<std::int64_t>(64 * unit, 64, 2048), run_bytes});
    if (copy_packed(plan)) return;
  }
  choose_blocks(plan, bytes > 0 ? box_shape{far_target, 2048, run_bytes} : near_shape);
  copy_boxes(plan, !direct.transposes());
}

}  // namespace

std::int64_t streamed_bytes() {
  static std::int64_t const bytes = [] {
    std::int64_t last = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    last = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return std::clamp<std::int64_t>(last * 2 / 5, 4 << 20, 14 << 20);
  }();
  return bytes;
}

void copy(std::int64_t element_size, int rank, std::int64_t const* extents, void* target,
          std::int64_t const* target_strides, void const* source,
          std::int64_t const* source_strides) {
  box_plan plan = plan_boxes("copy", element_size, rank, extents, target, target_strides, source,
                             source_strides);
  if (plan.is_empty) return;
  fuse_short_run(plan);
  if (plan.count * plan.element_size >= streamed_bytes()) return copy_far(plan, box_copy(plan));
  choose_blocks(plan, near_shape);
  copy_boxes(plan, false);
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
