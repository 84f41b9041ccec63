#pragma once

#include <cstdint>

#include <ricci/tensor/dtype.hpp>

namespace ricci::kernels {

/// The largest rank that the functions of this file take: more than any pattern can make.
inline constexpr int max_copy_rank = 64;

/// From so many bytes on a target passes the caches by: the last one can't hold it beside the
/// source.
std::int64_t streamed_bytes();

/// target = source, place by place: every permutation, slice, reversal or broadcast made real.
///   Axes    extents, target_strides, source_strides: [rank]; strides in elements
///   Value   target(i...) = source(i...), bit for bit; nothing else of the target is written
///   Dtype   any element of element_size bytes: 1, 2, 4 or 8
///   Memory  strides of the source are of any sign or zero; no two places of the target share an
///           element; target and source do not overlap
///   Cost    one pass near the speed of memory: runs that both sides hold contiguously are copied
///           whole, and where their unit-stride axes differ, squares are transposed in registers;
///           on all threads from 32768 elements
///   Errors  shape_error: a negative extent, or more than 2^62 elements;
///           value_error: another element_size, a rank outside [0, max_copy_rank]
void copy(std::int64_t element_size, int rank, std::int64_t const* extents, void* target,
          std::int64_t const* target_strides, void const* source,
          std::int64_t const* source_strides);

/// target += source, place by place.
///   Axes    as `copy`
///   Value   target(i...) + source(i...); integers modulo 2^bits
///   Dtype   every floating and integer dtype; f16, bf16 and f8 add in f32 and round once
///   Memory  as `copy`
///   Cost    as `copy`, the target read as well; a source in another order passes through blocks
///           of at most 128 KiB
///   Errors  as `copy`; value_error for boolean
void add_into(dtype type, int rank, std::int64_t const* extents, void* target,
              std::int64_t const* target_strides, void const* source,
              std::int64_t const* source_strides);

/// Every place of the target becomes the one element at `value`.
///   Axes, Dtype, Memory, Errors  as `copy`
void fill(std::int64_t element_size, int rank, std::int64_t const* extents, void* target,
          std::int64_t const* target_strides, void const* value);

/// The bytes become zero, on all threads from a mebibyte.
///   Errors  value_error for a negative number
void zero(void* target, std::int64_t bytes);

}  // namespace ricci::kernels
