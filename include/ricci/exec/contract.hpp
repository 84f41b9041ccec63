#pragma once

#include <cstdint>

#include <ricci/plan/lowering.hpp>
#include <ricci/tensor/dtype.hpp>
#include <ricci/tensor/layout.hpp>
#include <ricci/tensor/opcode.hpp>

namespace ricci::exec {

/// One operand of a contraction, as it lies in memory. An index that stands twice is a diagonal.
struct contraction_operand {
  void const* data = nullptr;
  dtype type = dtype::f32;
  int rank = 0;
  std::int64_t const* extents = nullptr;  // [rank]
  std::int64_t const* strides = nullptr;  // [rank], in elements; 0 and negative ones are fine
  std::uint8_t const* indices = nullptr;  // [rank], ids below 32
  layout const* known = nullptr;  // plans are made from it; none: from the strides as numbers
};

/// What a contraction writes: packed, axes in the order of `indices`.
struct contraction_result {
  void* data = nullptr;
  dtype type = dtype::f32;
  int rank = 0;
  std::int64_t const* extents = nullptr;
  std::uint8_t const* indices = nullptr;
};

/// An array added to the result: a bias (stride 0 along the axes that it lacks), a residual.
struct contraction_added {
  void const* data = nullptr;  // none
  dtype type = dtype::f32;
  std::int64_t const* strides = nullptr;  // [rank of the result], in elements
};

/// What happens to each element on its way into the result.
///   Value   activation(alpha * sum + bias + residual), rounded once
struct contraction_epilogue {
  double alpha = 1;
  contraction_added bias;
  contraction_added residual;
  opcode activation = opcode::convert;  // none; or relu silu gelu_tanh gelu_erf tanh sigmoid
};

/// What ran.
struct contraction_report {
  lowering_code lowering = lowering_code::loops;
  int gemms = 0;           // matrix products of the backend: 0 or 1
  std::int64_t batch = 0;  // how many products of [m, k] and [k, n] it stands for
  std::int64_t m = 0, n = 0, k = 0;
  int packs = 0;         // operands copied (also to sum them) and results permuted
  int loops = 0;         // our own loops ran instead
  bool is_fused = true;  // the epilogue ran inside the product
  std::int64_t temporary_bytes = 0;  // for packs
};

/// result = epilogue(a contracted with b): sum over the indices that the result lacks.
///   Axes    a, b: any rank up to 24, any strides; result: packed
///   Value   every index of the result is one of a or of b
///   Dtype   a and b of one dtype; result: the same, or f32 of f16, bf16, f8, or any integer of
///           integers. Floats below f64 are accumulated in f32, integers modulo 2^64 in i64
///   Memory  temporaries of role workspace where operands are packed and results permuted
///   Cost    2 * batch * m * n * k operations
///   Lowers  the chosen one of candidates_of (plan/candidates.hpp): f32 and bf16 through oneDNN's
///           matmul or kernels/contract, everything else and what is below 32 * 32 * 32 products
///           through kernels/contract. The bits do not depend on the number of threads
///   forced  the lowering to take, if this contraction with these extents has it
///   Errors  shape_error: an index with two extents, or extents whose product is beyond 63 bits;
///           value_error: dtypes that do not fit, a rank above 24, an index of the result that
///           stands in no operand
contraction_report contract(contraction_operand const& a, contraction_operand const& b,
                            contraction_result const& result,
                            contraction_epilogue const& epilogue = {},
                            lowering_code forced = lowering_code::automatic);

/// result = epilogue(a): diagonals, sums over the indices that the result lacks, permuted.
contraction_report contract(contraction_operand const& a, contraction_result const& result,
                            contraction_epilogue const& epilogue = {});

}  // namespace ricci::exec
