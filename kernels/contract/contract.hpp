#pragma once

#include <cstdint>

#include <ricci/tensor/dtype.hpp>
#include <ricci/tensor/opcode.hpp>

namespace ricci::kernels {

/// One axis of a contraction: its extent, and its stride, in elements, in every array. A stride may
/// be 0 or negative; it is 0 in an array that lacks the axis.
struct contraction_axis {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
  std::int64_t bias = 0;
  std::int64_t residual = 0;
};

/// An array added to the result before the activation: a bias (stride 0 along the axes that it
/// lacks) or a residual.
struct contraction_addend {
  void const* data = nullptr;  // none
  dtype type = dtype::f32;
};

/// c = activation(alpha * (sum over k of a * b) + bias + residual), on arrays as they lie.
struct contraction_problem {
  void const* a = nullptr;
  void const* b = nullptr;
  void* c = nullptr;
  dtype a_type = dtype::f32;
  dtype b_type = dtype::f32;
  dtype c_type = dtype::f32;
  double alpha = 1;
  contraction_addend bias;
  contraction_addend residual;
  opcode activation = opcode::convert;  // none; or relu silu gelu_tanh gelu_erf tanh sigmoid
  // Axes that stand in a, b and c; a and c; b and c; a and b (or fewer of them: stride 0). The
  // last axis of `n` (else of `m`, else of `batch`) should be c's fastest.
  contraction_axis const* batch = nullptr;
  contraction_axis const* m = nullptr;
  contraction_axis const* n = nullptr;
  contraction_axis const* k = nullptr;
  int batches = 0;
  int ms = 0;
  int ns = 0;
  int ks = 0;

  /// Does anything follow the sum?
  bool has_epilogue() const {
    return alpha != 1 || bias.data != nullptr || residual.data != nullptr ||
           activation != opcode::convert;
  }
};

/// A contraction by loops of our own, in any of the dtypes.
///   Axes    a: batch m k, b: batch k n, c: batch m n, each any number of axes
///   Value   every element of c is written once; without k axes c = a * b, with an empty one c = 0
///   Dtype   f64 in f64; f32, f16, bf16, f8 (each array its own) in f32, rounded once; integers and
///           boolean in i64, modulo 2^64, then modulo the bits of c's
///   Memory  below 32 * 32 * 32 products none; else offsets of m, n and k, and tiles in the cache;
///           where each operand is read once, copies of the smaller arrays that lie in another
///           order than the largest
///   Cost    f64: 10 GFLOP/s a thread and more where m, n and k are each some tens; where m or n is
///           1 it reads a and b once, at the speed of memory
///   Lowers  m or n of extent 1, or no k: rows (rows.hpp); else packed tiles (tiles.hpp). The order
///           of a sum depends on the extents and strides alone, never on the number of threads
///   Errors  value_error: the dtypes are not of one of the three kinds; another activation
///   @pre    extents are >= 0, and c's elements are distinct
void contract(contraction_problem const& problem);

}  // namespace ricci::kernels
