#pragma once

#include "src/contract_terms.hpp"

/// Private to src/: contractions through a plan.
namespace ricci::exec {

/// The number 1 in accumulator_of(type): the second operand of a copy.
inline void const* one_of(dtype type) {
  static constexpr f64 wide = 1;
  static constexpr f32 narrow = 1;
  static constexpr i64 whole = 1;
  if (type == dtype::f64) return &wide;
  return is_floating(type) ? static_cast<void const*>(&narrow) : &whole;
}

/// Contracts two operands by a plan for these terms: pointers, dtypes and epilogue are the
/// problem's.
///   @pre  a plan with matrix products: the operands are f32, or bf16 without sums to be taken
///   first
void run_planned(contraction_plan const& plan, contraction_terms const& terms,
                 kernels::contraction_problem const& problem, contraction_report& report);

/// Sums and permutes the first operand; the second is 1.
void run_single(contraction_terms const& terms, kernels::contraction_problem problem);

}  // namespace ricci::exec
