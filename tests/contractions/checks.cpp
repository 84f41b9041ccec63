// The checks themselves: right results pass, and wrong ones do not.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/contractions/number.hpp"
#include "tests/contractions/operands.hpp"
#include "tests/contractions/reference.hpp"

namespace ricci::contractions {
namespace {

/// An equation, its operands and its result, by one loop over all letters.
template <class T> struct sample {
  equation e;
  random_numbers numbers;
  T const* a;
  T const* b;
  std::vector<T> result;

  sample(std::string const& text, std::string const& extents)
      : e(read_equation(text, extents)),
        numbers(dtype_of<T>, e.elements(in_a) + e.elements(in_b)),
        a(static_cast<T const*>(numbers.data())),
        b(a + e.elements(in_a)) {
    std::vector<double> sums(static_cast<std::size_t>(e.elements(in_result)));
    std::int64_t const products = e.products();
    for (std::int64_t i = 0; i < products; ++i) {
      std::int64_t at[tensors] = {};
      std::int64_t rest = i;
      for (letter_axis const& axis : e.letters) {
        for (int t = 0; t < tensors; ++t) at[t] += rest % axis.extent * axis.stride[t];
        rest /= axis.extent;
      }
      sums[static_cast<std::size_t>(at[in_result])] += number(a[at[in_a]]) * number(b[at[in_b]]);
    }
    for (double sum : sums) result.push_back(static_cast<T>(sum));
  }

  operands_and_result arrays() const { return {dtype_of<T>, {a, b, result.data()}}; }
};

// Long axes and short ones, diagonals, sums over one operand, extents of 0 and 1, no axes at all.
std::vector<std::pair<std::string, std::string>> const equations = {
    {"ab,bc->ac", "a=7 b=5000 c=9"},
    {"ab,bc->ca", "a=300 b=3 c=200"},
    {"a,->a", "a=200000"},
    {"ab,ab->b", "a=2 b=70000"},
    {"ba,ba->b", "a=3 b=9000"},
    {"abab,acd->bd", "a=6 b=7 c=5 d=4"},
    {"ab,ccd->dac", "a=5 b=6 c=7 d=8"},
    {"fhabdcge,afd->aebhcfg", "a=3 b=2 c=5 d=4 e=3 f=2 g=7 h=3"},
    {"ab,bc->ac", "a=3 b=0 c=4"},
    {"ab,bc->ac", "a=0 b=3 c=4"},
    {"ab,bc->ac", "a=1 b=1 c=1"},
    {"a,a->", "a=100000"},
    {",->", ""},
};

}  // namespace

TEST_CASE_TEMPLATE("right results pass", T, f64, f32, bf16) {
  for (auto const& [text, extents] : equations) {
    CAPTURE(text);
    sample<T> const s(text, extents);
    element_findings const all = check_elements(s.e, s.arrays(), INT64_MAX);
    CHECK(all.compared == s.e.elements(in_result));
    CHECK(all.wrong == 0);
    if (s.e.elements(in_result) == 0) continue;
    element_findings const some = check_elements(s.e, s.arrays(), 20);
    CHECK(some.compared == std::min<std::int64_t>(20, s.e.elements(in_result)));
    CHECK(some.wrong == 0);
    sum_findings const sum = check_signed_sum(s.e, s.arrays());
    INFO(sum.found, " instead of ", sum.expected, " +- ", sum.allowed);
    CHECK(sum.agrees);
  }
}

TEST_CASE_TEMPLATE("one wrong element shows", T, f64, f32) {
  for (auto const& [text, extents] : equations) {
    CAPTURE(text);
    sample<T> s(text, extents);
    std::size_t const count = s.result.size();
    for (std::size_t i : {std::size_t{0}, count / 2, count - 1}) {
      if (count == 0) continue;
      T const right = s.result[i];
      s.result[i] = right == T{} ? T{1} : T{};
      element_findings const all = check_elements(s.e, s.arrays(), INT64_MAX);
      CHECK(all.wrong == 1);
      CHECK(all.first_wrong == static_cast<std::int64_t>(i));
      if (right != T{}) CHECK(!check_signed_sum(s.e, s.arrays()).agrees);
      s.result[i] = right;
    }
  }
}

TEST_CASE("bf16 rounds once") {
  sample<bf16> s("ab,bc->ac", "a=7 b=3 c=9");
  s.result[5].bits += 2;  // two units in the last place
  CHECK(check_elements(s.e, s.arrays(), INT64_MAX).wrong == 1);
}

TEST_CASE("a whole operand in another order shows in the signed sum, in bf16 too") {
  sample<bf16> const right("ab,bc->ac", "a=64 b=32 c=64");
  sample<bf16> wrong("ab,bc->ca", "a=64 b=32 c=64");
  wrong.e = right.e;
  CHECK(!check_signed_sum(wrong.e, wrong.arrays()).agrees);
}

TEST_CASE("sums in a narrower dtype show") {
  // f64 sums out of f32 numbers, and f32 sums out of bf16 ones.
  sample<f64> wide("ab,bc->ac", "a=3 b=50 c=4");
  for (f64& x : wide.result) x = static_cast<f64>(static_cast<f32>(x));
  CHECK(check_elements(wide.e, wide.arrays(), INT64_MAX).wrong == 12);
  CHECK(!check_signed_sum(wide.e, wide.arrays()).agrees);
  sample<f32> narrow("ab,bc->ac", "a=3 b=50 c=4");
  for (f32& x : narrow.result) x = static_cast<f32>(static_cast<bf16>(x));
  CHECK(check_elements(narrow.e, narrow.arrays(), INT64_MAX).wrong >= 11);
  CHECK(!check_signed_sum(narrow.e, narrow.arrays()).agrees);
}

}  // namespace ricci::contractions
