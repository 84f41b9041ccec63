#pragma once

#include <cstdint>
#include <string_view>

#include <ricci/tensor/dtype.hpp>

#include "kernels/pointwise/pointwise.hpp"

/// Reductions of arrays, or of the values of a fused elementwise program, over any of their axes.
namespace ricci::kernels {

/// The reductions. In the order of graph::reduction.
enum class reduction : std::uint8_t {
  sum,
  mean,
  max,
  min,
  prod,
  any,
  all,
  logsumexp,
  argmax,
  argmin,
  user
};

/// A reduction that a user wrote; associative and commutative up to rounding. Its accumulators and
/// its elements have the dtype of the reduced values.
struct user_reduction {
  void const* identity;                                                           // one element
  void (*combine)(void* accumulators, void const* elements, std::int64_t count);  // acc[i] op= x[i]
};

/// The reduction as enumerated.
std::string_view name_of(reduction op);

/// Elements in memory; strides in elements, 0 and negative ones allowed.
struct strided_view {
  void const* data;  // at place (0, ..., 0)
  dtype type;
  int rank;
  std::int64_t const* extents;  // [rank]
  std::int64_t const* strides;  // [rank]
};

/// Reduces over the axes of a view whose bits are set in `reduced`.
///   Axes    output: the other axes, in order, packed
///   Value   sum, prod, mean   in f64 (f32 within blocks of 512) for floats, in i64 for integers
///   and
///                             boolean; mean divides in f64
///           max, min          NaN if there is one
///           any, all          of booleans
///           logsumexp         log(sum(exp(x))) without overflow; -infinity where all are
///           argmax, argmin    the position of the first of the largest; NaN counts as larger
///                             (smaller) than all; over several axes the row-major position
///           nothing reduced: sum 0, prod 1, any false, all true, logsumexp -infinity, mean NaN
///   Dtype   output_type, rounded once: any dtype for sum, mean, prod, logsumexp, max and min;
///           boolean for any and all; i64 for argmax and argmin; the view's for user
///   Memory  a few KiB per thread; partial results where the reduced axes are long
///   Cost    one pass. The order of additions depends on extents and strides alone, so the bits do
///           not depend on the number of threads
///   Errors  value_error: max, min, argmax, argmin of nothing; logsumexp of integers; any or all of
///           what is not boolean; mean of nothing into an integer dtype; user without a
///           user_reduction; shape_error: bad extents
void reduce(reduction op, strided_view const& source, std::uint32_t reduced, void* output,
            dtype output_type, user_reduction const* user = nullptr);

/// The same of a program's value: the source of its one output, whose type is the dtype of the
/// elements (of a narrow float the values are not rounded before they are reduced, but for user)
/// and whose data is ignored. The axes are those of the program's result.
void reduce(reduction op, pointwise_program const& source, std::uint32_t reduced, void* output,
            dtype output_type, user_reduction const* user = nullptr);

/// Running sums along an axis: y(..., i, ...) = x(..., 0, ...) + ... + x(..., i, ...).
///   Axes    output: those of the view, packed
///   Dtype   sums in f64, or i64 for integers and boolean; output_type, each rounded once
///   Cost    one pass; on several threads where there are several runs
///   Errors  value_error: no such axis; shape_error: bad extents
void cumsum(strided_view const& source, int axis, void* output, dtype output_type);

}  // namespace ricci::kernels
