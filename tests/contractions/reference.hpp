#pragma once

#include "tests/contractions/equation.hpp"

#include <ricci/tensor/dtype.hpp>

/// What a contraction's result must be, by loops of these tests' own.
namespace ricci::contractions {

/// How far an element may be from the exact sum of products: rounding * |sum| + sums * sum of
/// |a||b|.
struct tolerance {
  double rounding;
  double sums;
};

/// One table for every contraction of these tests.
///   rounding  the result is rounded once: half a unit of the last of 53, 24 or 8 bits
///   sums      8 roundings of the type that sums run in. Sums of up to 8 products can be that far
///             off, whatever their order. In longer ones of random signs n roundings, each of a
///             partial sum of about sqrt(n) products, add up to about one rounding of the sum of
///             |a||b|, again in every order
constexpr tolerance tolerance_of(dtype type) {
  if (type == dtype::f64) return {0x1p-53, 8 * 0x1p-53};
  if (type == dtype::f32) return {0x1p-24, 8 * 0x1p-24};
  return {0x1p-8, 8 * 0x1p-24};  // bf16 is summed in f32
}

/// Packed arrays of one dtype: f64, f32 or bf16.
struct operands_and_result {
  dtype type;
  void const* data[tensors];
};

/// Elements of the result that were compared, and the first wrong one.
struct element_findings {
  std::int64_t compared = 0;
  std::int64_t wrong = 0;
  std::int64_t first_wrong = -1;  // its place in the packed result
  double found = 0;
  double expected = 0;
  double allowed = 0;
};

/// Compares elements one by one: all of them where `most` is no less than they are, else the first,
/// the last and others at random.
element_findings check_elements(equation const& e, operands_and_result const& x, std::int64_t most);

/// The sum over all elements of the result, each times one random sign for every index, against the
/// sum of the operands with those signs.
///   Value   sum of s(b) s(m) s(n) r(b, m, n) = sum over b, k of (sum of s(m) a(b, m, k)) *
///           (sum of s(n) b(b, k, n)) * s(b): as many operations as the arrays have elements.
///           In f64 and f32 one element that is wrong by its own size shows. N roundings of bf16
///           add up to sqrt(N) of them, so there one element in 8000 must be wrong
struct sum_findings {
  bool agrees = true;
  double found = 0;
  double expected = 0;
  double allowed = 0;
};
sum_findings check_signed_sum(equation const& e, operands_and_result const& x);

}  // namespace ricci::contractions
