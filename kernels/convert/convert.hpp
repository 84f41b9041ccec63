#pragma once

#include <cstdint>

#include <ricci/tensor/dtype.hpp>

namespace ricci::kernels {

/// Converts `count` packed elements from one dtype to another.
///   Axes    source: [count] of `from`, target: [count] of `to`; the two must not overlap
///   Value   every element is what convert_value (convert_value.hpp) gives for it:
///           to a float     the nearest, ties to even, rounded once from any source
///           float to int   truncated toward zero; beyond the range its end, NaN gives 0
///           int to int     modulo 2^bits, as C++ does
///           to boolean     whether it differs from zero; NaN gives true
///           from boolean   0 or 1
///   Dtype   all 13 x 13 pairs
///   Cost    one pass, vectorized, on all threads from 32768 elements
///   Errors  value_error for a negative count
void convert(void const* source, dtype from, void* target, dtype to, std::int64_t count);

}  // namespace ricci::kernels
