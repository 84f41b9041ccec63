#include "kernels/copy/box_plan.hpp"

#include <string>

#include <ricci/error/exceptions.hpp>

namespace ricci::kernels {
namespace {

constexpr std::int64_t largest_count = std::int64_t{1} << 62;

// Below this many elements a pass is one box: blocks pay from where caches overflow.
constexpr std::int64_t small_count = 4096;

// Elements and bytes below which waking a second thread does not pay, and elements that one thread
// takes at a time.
constexpr std::int64_t parallel_count = 32768;
constexpr std::int64_t parallel_bytes = 160 << 10;
constexpr std::int64_t grain = 16384;

// Registers hold squares of 16: blocks of other sizes would end in a part of one.
constexpr std::int64_t side = 16;

[[noreturn]] void refuse_shape(char const* who, int rank, std::int64_t const* extents) {
  std::string shape;
  bool is_negative = false;
  for (int axis = 0; axis < rank; ++axis) {
    if (axis > 0) shape += ' ';
    shape += std::to_string(extents[axis]);
    is_negative = is_negative || extents[axis] < 0;
  }
  throw shape_error(std::string(who) + ": the extents [" + shape +
                    (is_negative ? "] hold a negative one; an extent is at least 0."
                                 : "] have more elements than 64 bits can count."));
}

std::int64_t magnitude(std::int64_t stride) { return stride < 0 ? -stride : stride; }

// As many equal parts as blocks of `wanted` would make, in whole squares if they are of any size.
std::int64_t even_block(std::int64_t extent, std::int64_t wanted) {
  if (wanted >= extent) return extent;
  std::int64_t const parts = (extent - 1) / wanted + 1;
  std::int64_t const even = (extent - 1) / parts + 1;
  return even < 2 * side ? even : std::min(extent, (even + side - 1) / side * side);
}

// Lengthens what a box holds along one side to `wanted` elements; `covered` it has already. False:
// the next axis would not continue it.
bool widen(box_axis& axis, std::int64_t& covered, std::int64_t wanted) {
  std::int64_t const block = even_block(axis.extent, (wanted - 1) / covered + 1);
  axis.block = std::max(axis.block, block);
  covered *= axis.block;
  return axis.block == axis.extent;
}

}  // namespace

int box_plan::run_begin() const {
  int begin = rank;
  std::int64_t run = element_size;
  while (begin > 0 && axes[begin - 1].target == run && axes[begin - 1].source == run) {
    run *= axes[--begin].extent;
    if (axes[begin].block != axes[begin].extent) break;
  }
  return begin;
}

int box_plan::nearest_source_axis(int end) const {
  int nearest = -1;
  for (int axis = 0; axis < end; ++axis)
    if (axes[axis].source != 0 &&
        (nearest < 0 || magnitude(axes[axis].source) <= magnitude(axes[nearest].source)))
      nearest = axis;
  return nearest;
}

box_plan plan_boxes(char const* who, std::int64_t element_size, int rank,
                    std::int64_t const* extents, void* target, std::int64_t const* target_strides,
                    void const* source, std::int64_t const* source_strides) {
  if (element_size != 1 && element_size != 2 && element_size != 4 && element_size != 8)
    throw value_error(std::string(who) + ": got elements of " + std::to_string(element_size) +
                      " bytes; it takes 1, 2, 4 or 8.");
  if (rank < 0 || rank > max_copy_rank)
    throw value_error(std::string(who) + ": got rank " + std::to_string(rank) + "; it takes 0 to " +
                      std::to_string(max_copy_rank) + " axes.");
  box_plan plan;
  plan.element_size = element_size;
  plan.target = static_cast<char*>(target);
  plan.source = static_cast<char const*>(source);
  for (int axis = 0; axis < rank; ++axis) {
    std::int64_t const extent = extents[axis];
    if (extent == 0) plan.is_empty = true;
    if (extent < 0 || (extent > 1 && (__builtin_mul_overflow(plan.count, extent, &plan.count) ||
                                      plan.count > largest_count)))
      refuse_shape(who, rank, extents);
    if (extent < 2) continue;
    box_axis next{extent, extent, target_strides[axis] * element_size,
                  source_strides[axis] * element_size};
    if (next.target < 0) {
      plan.target += next.target * (extent - 1);
      plan.source += next.source * (extent - 1);
      next.target = -next.target;
      next.source = -next.source;
    }
    int at = plan.rank++;
    for (; at > 0 && plan.axes[at - 1].target < next.target; --at)
      plan.axes[at] = plan.axes[at - 1];
    plan.axes[at] = next;
  }
  if (plan.is_empty) {
    plan.count = 0;
    return plan;
  }
  int kept = 0;
  for (int axis = 1; axis < plan.rank; ++axis) {
    box_axis& outer = plan.axes[kept];
    box_axis const& inner = plan.axes[axis];
    if (outer.target == inner.target * inner.extent && outer.source == inner.source * inner.extent)
      outer = {outer.extent * inner.extent, outer.extent * inner.extent, inner.target,
               inner.source};
    else
      plan.axes[++kept] = inner;
  }
  if (plan.rank > 0) plan.rank = kept + 1;
  return plan;
}

void choose_blocks(box_plan& plan, box_shape const& shape) {
  int const rank = plan.rank;
  if (plan.count <= small_count || rank == 0) return;
  int begin = plan.run_begin();
  for (int axis = 0; axis < rank; ++axis) plan.axes[axis].block = 1;
  std::int64_t wanted = shape.target / plan.element_size;
  std::int64_t covered = 1;
  if (begin < rank) {
    box_axis& run = plan.axes[begin];
    run.block = even_block(run.extent, shape.run / plan.element_size);
    covered = run.block;
  }
  std::int64_t const run = covered;
  for (int axis = begin - 1; axis >= 0 && covered < wanted; --axis)
    if (!widen(plan.axes[axis], covered, wanted)) break;

  // The source's side: its axes from the nearest on.
  covered = run;
  wanted = shape.source / plan.element_size;
  bool is_taken[max_copy_rank];
  std::fill_n(is_taken, begin, false);
  while (covered < wanted) {
    int nearest = -1;
    for (int axis = 0; axis < begin; ++axis)
      if (!is_taken[axis] && plan.axes[axis].source != 0 &&
          (nearest < 0 ||
           magnitude(plan.axes[axis].source) <= magnitude(plan.axes[nearest].source)))
        nearest = axis;
    if (nearest < 0) break;
    is_taken[nearest] = true;
    if (!widen(plan.axes[nearest], covered, wanted)) break;
  }

  // What is left is filled up in the order of the target, so that a box is worth its start.
  std::int64_t held = 1;
  for (int axis = 0; axis < rank; ++axis) held *= plan.axes[axis].block;
  for (int axis = rank - 1; axis >= 0 && held < small_count; --axis) {
    box_axis& a = plan.axes[axis];
    held /= a.block;
    a.block = std::max(a.block, even_block(a.extent, (small_count - 1) / held + 1));
    held *= a.block;
  }
}

box_plan into_packed(box_plan const& plan) {
  // Rows at a power of two from each other would meet in few sets of the cache.
  constexpr std::int64_t line = 64, power = 512;
  box_plan into = plan;
  std::int64_t stride = plan.element_size, contiguous = plan.element_size;
  for (int axis = plan.rank - 1; axis >= 0; --axis) {
    if (plan.axes[axis].target != contiguous && stride % power == 0) stride += line;
    contiguous = plan.axes[axis].target * plan.axes[axis].extent;
    into.axes[axis].target = stride;
    stride *= plan.axes[axis].block;
  }
  return into;
}

std::int64_t packed_size(box_plan const& into) {
  return into.rank == 0 ? into.element_size : into.axes[0].target * into.axes[0].block;
}

box_plan from_packed(box_plan const& plan) {
  box_plan from = into_packed(plan);
  for (int axis = 0; axis < plan.rank; ++axis) {
    from.axes[axis].source = from.axes[axis].target;
    from.axes[axis].target = plan.axes[axis].target;
  }
  return from;
}

void for_each_box(box_plan const& plan, function_ref<void(box const&)> body) {
  int const rank = plan.rank;
  std::int64_t parts[max_copy_rank];
  std::int64_t boxes = 1;
  std::int64_t held = 1;
  for (int axis = 0; axis < rank; ++axis) {
    box_axis const& a = plan.axes[axis];
    parts[axis] = a.block == a.extent ? 1 : (a.extent - 1) / a.block + 1;
    boxes *= parts[axis];
    held *= a.block;
  }
  auto const range = [&](std::int64_t begin, std::int64_t end) {
    std::int64_t part[max_copy_rank];
    std::int64_t extents[max_copy_rank];
    std::int64_t rest = begin;
    for (int axis = rank - 1; axis >= 0; --axis) {
      part[axis] = parts[axis] == 1 ? 0 : rest % parts[axis];
      rest = parts[axis] == 1 ? rest : rest / parts[axis];
    }
    for (std::int64_t i = begin; i < end; ++i) {
      box next{plan.target, plan.source, extents};
      for (int axis = 0; axis < rank; ++axis) {
        box_axis const& a = plan.axes[axis];
        std::int64_t const first = part[axis] * a.block;
        extents[axis] = std::min(a.block, a.extent - first);
        next.target += first * a.target;
        next.source += first * a.source;
      }
      body(next);
      for (int axis = rank - 1; axis >= 0 && ++part[axis] == parts[axis]; --axis) part[axis] = 0;
    }
  };
  if (plan.count < parallel_count || plan.count * plan.element_size < parallel_bytes || boxes == 1)
    range(0, boxes);
  else
    parallel_chunks(boxes, std::max<std::int64_t>(1, grain / held), range);
}

}  // namespace ricci::kernels
