#pragma once

#include <array>
#include <cstdint>

#include "kernels/reduce/reduce.hpp"

namespace ricci::kernels {

/// How the places of a reduction are walked: a program whose axes stand in another order, so that
/// memory is read in its own order and the reduced axes can be counted through.
///   by rows      [kept..., reduced...]: each result is a run of `count` places
///   by columns   [outer..., reduced..., columns]: `columns` results are accumulated side by side
struct reduce_plan {
  pointwise_program program;  // refers to the arrays below
  bool by_columns;
  std::int64_t results;                        // of the kept axes
  std::int64_t count;                          // of the reduced axes
  std::int64_t outer, columns, column_stride;  // the stride of a column in the output

  // By columns: the kept axes before the columns, as they stand in the output.
  int outer_rank;
  std::array<std::int64_t, max_pointwise_rank> outer_extents, outer_strides;

  std::array<std::int64_t, max_pointwise_rank> extents;
  std::array<std::array<std::int64_t, max_pointwise_rank>, max_pointwise_operands> strides;
  std::array<pointwise_operand, max_pointwise_operands> operands;
  std::array<pointwise_instruction, max_pointwise_instructions> instructions;

  reduce_plan() = default;
  reduce_plan(reduce_plan const&) = delete;
  reduce_plan& operator=(reduce_plan const&) = delete;

  /// Where the columns of the outer-th group start in the output.
  [[nodiscard]] std::int64_t output_offset(std::int64_t group) const;
};

/// What a caller lets the plan do.
struct reduce_freedom {
  bool by_columns;  // otherwise always by rows
  bool any_order;   // the reduced axes may change places
};

/// Plans the reduction of a program's value over `reduced`.
///   Errors  value_error: reduced axes that there are not, more than one output;
///           shape_error: bad extents
void make_plan(pointwise_program const& source, std::uint32_t reduced, reduce_freedom freedom,
               reduce_plan& plan);

}  // namespace ricci::kernels
