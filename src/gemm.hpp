#pragma once

#include <cstdint>

#include "kernels/contract/contract.hpp"

/// Private to src/: the matrix product of the host's library.
namespace ricci::exec {

/// c[batch, m, n] = activation(alpha * (sum over k of a[batch, m, k] * b[batch, k, n]) + bias +
/// residual), one axis for each of m, n and k.
struct gemm_problem {
  void const* a = nullptr;
  void const* b = nullptr;
  void* c = nullptr;
  dtype in = dtype::f32;        // of a and b: f32 or bf16
  dtype out = dtype::f32;       // f32, or bf16 where `in` is
  kernels::contraction_axis m;  // c's stride is that of a row; b's is 0
  kernels::contraction_axis n;  // c's stride is 1; a's is 0
  kernels::contraction_axis k;
  kernels::contraction_axis const* batch = nullptr;
  int batches = 0;
  double alpha = 1;
  kernels::contraction_addend bias;
  kernels::contraction_addend residual;
  opcode activation = opcode::convert;
};

/// What became of a problem.
///   done         c holds the result
///   plain        c holds the plain product: the epilogue is still to be applied
///   unsupported  c was not touched: the library has no fast way
enum class gemm_outcome { done, plain, unsupported };

/// Runs the problem through the library.
///   Value   the bits depend on the problem alone, not on the number of threads
///   Memory  scratch of role workspace while it runs; primitives are kept, at most 1024
///   Cost    about 0.3 us beside the product where the primitive is kept; 0.3 ms where it is new
///   Errors  device_error: the library fails while it runs
///   @pre    no extent is 0; strides of m, n and k are positive (0 in what lacks the axis), and a
///           and b have a stride of 1 among theirs; plain is returned only if `may_be_plain`
gemm_outcome gemm(gemm_problem const& problem, bool may_be_plain);

}  // namespace ricci::exec
