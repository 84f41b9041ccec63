#pragma once

#include <span>

#include "kernels/pointwise/program_values.hpp"

namespace ricci::kernels {

/// Fills in the target's size, axes and strides: as few axes as describe all operands. An axis
/// merges into the next where every stride is the next one's times the next extent.
///   Axes    stride_sources: the values (operands, and instructions that are indices) whose strides
///           become the rows of target.strides
///   Errors  shape_error: negative extents, too many elements
void merge_axes(pointwise_program const& source, program_values const& values,
                std::span<int const> stride_sources, block_program& target);

/// Chooses the axis along which operands with another unit-stride axis than the result are packed,
/// panel_rows rows of the result at a time: target.panel_axis, which stays where it is if there is
/// no such operand. Where there is one, blocks are cut at shorter rows.
void choose_panel(program_values const& values, std::span<int const> stride_sources,
                  block_program& target);

}  // namespace ricci::kernels
