#include "kernels/pointwise/merge_axes.hpp"

#include <cstdlib>

#include <ricci/error/exceptions.hpp>

namespace ricci::kernels {
namespace {

// Rows and results below these are not worth a panel.
constexpr std::int64_t least_panel_row = 32;
constexpr std::int64_t least_panel_places = 16384;

std::int64_t count_places(pointwise_program const& source) {
  bool empty = false, too_large = false;
  std::int64_t size = 1;
  for (int axis = 0; axis < source.rank; ++axis) {
    std::int64_t const extent = source.extents[axis];
    if (extent < 0)
      throw shape_error("pointwise: axis " + std::to_string(axis) + " has extent " +
                        std::to_string(extent) + "; an extent must not be negative.");
    empty = empty || extent == 0;
    too_large = __builtin_mul_overflow(size, extent, &size) || too_large;
  }
  if (empty) return 0;
  if (too_large) throw shape_error("pointwise: the result has 2^63 elements or more.");
  return size;
}

}  // namespace

void merge_axes(pointwise_program const& source, program_values const& values,
                std::span<int const> stride_sources, block_program& target) {
  auto const stride_of = [&](std::size_t row, int axis) -> std::int64_t {
    int const v = stride_sources[row];
    if (v < values.first_constant())
      return source.operands[static_cast<std::size_t>(v)].strides[axis];
    return source.instructions[static_cast<std::size_t>(v - values.first_instruction())].axis ==
           axis;
  };
  target.size = count_places(source);
  std::size_t rank = 0;
  for (int axis = 0; axis < source.rank && target.size > 0; ++axis) {
    std::int64_t const extent = source.extents[axis];
    if (extent == 1) continue;
    bool merges = rank > 0;
    for (std::size_t r = 0; merges && r < stride_sources.size(); ++r) {
      std::int64_t span;
      merges = !__builtin_mul_overflow(stride_of(r, axis), extent, &span) &&
               target.strides[r][rank - 1] == span;
    }
    if (!merges) target.extents[rank++] = 1;
    target.extents[rank - 1] *= extent;
    for (std::size_t r = 0; r < stride_sources.size(); ++r)
      target.strides[r][rank - 1] = stride_of(r, axis);
  }
  target.rank = static_cast<int>(rank);
  target.row = rank > 0 ? target.extents[rank - 1] : 1;
  target.cut_at_rows = rank <= 1 || target.row >= long_row;
}

void choose_panel(program_values const& values, std::span<int const> stride_sources,
                  block_program& target) {
  if (target.rank < 2 || target.row < least_panel_row || target.size < least_panel_places) return;
  auto const inner = static_cast<std::size_t>(target.rank - 1);
  for (std::size_t r = 0; r < stride_sources.size(); ++r) {
    bool const in_memory = stride_sources[r] < values.first_constant();
    if (!in_memory || target.strides[r][inner] == 0 || target.strides[r][inner] == 1) continue;
    for (std::size_t axis = 0; axis < inner; ++axis)
      if (std::abs(target.strides[r][axis]) == 1 && target.extents[axis] >= 4) {
        target.panel_axis = static_cast<int>(axis);
        target.cut_at_rows = true;
        return;
      }
  }
}

}  // namespace ricci::kernels
