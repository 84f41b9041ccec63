#include "kernels/contract/contract.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <ricci/error/exceptions.hpp>

#include "kernels/parallel/parallel.hpp"

using ricci::dtype;
using namespace ricci::kernels;

namespace {

// c[m1, m2, n] += over k1, k2 of a * b, all arrays by strides of their own, with both addends.
struct many_axes {
  std::int64_t m1, m2, n, k1, k2;
  std::vector<double> a, b, c, bias, residual;
  contraction_axis m[2], of_n[1], k[2];

  many_axes(std::int64_t m1_, std::int64_t m2_, std::int64_t n_, std::int64_t k1_, std::int64_t k2_)
      : m1(m1_), m2(m2_), n(n_), k1(k1_), k2(k2_) {
    a = numbers(m1 * m2 * k1 * k2, 3);
    b = numbers(n * k1 * k2, 5);
    bias = numbers(m2 * n, 7);
    residual = numbers(m1 * m2 * n, 11);
    c.assign(m1 * m2 * n, std::nan(""));
    // a: [k2, m1, k1, m2], b: [k1, n, k2], bias: [n, m2], residual: [n, m1, m2]
    m[0] = {m1, k1 * m2, 0, m2 * n, 0, m2};
    m[1] = {m2, 1, 0, n, 1, 1};
    of_n[0] = {n, 0, k2, 1, m2, m1 * m2};
    k[0] = {k1, m2, n * k2, 0, 0, 0};
    k[1] = {k2, m1 * k1 * m2, 1, 0, 0, 0};
  }

  static std::vector<double> numbers(std::int64_t count, int step) {
    std::vector<double> v(count);
    for (std::int64_t i = 0; i < count; ++i) v[i] = static_cast<double>(i * step % 9 - 4);
    return v;
  }

  contraction_problem problem() {
    contraction_problem p;
    p.a = a.data();
    p.b = b.data();
    p.c = c.data();
    p.a_type = p.b_type = p.c_type = dtype::f64;
    p.bias = {bias.data(), dtype::f64};
    p.residual = {residual.data(), dtype::f64};
    p.alpha = -2;
    p.m = m;
    p.ms = 2;
    p.n = of_n;
    p.ns = 1;
    p.k = k;
    p.ks = 2;
    return p;
  }

  double expected(std::int64_t i, std::int64_t j, std::int64_t l) const {
    double sum = 0;
    for (std::int64_t p = 0; p < k1; ++p)
      for (std::int64_t q = 0; q < k2; ++q)
        sum += a[((q * m1 + i) * k1 + p) * m2 + j] * b[(p * n + l) * k2 + q];
    return -2 * sum + bias[l * m2 + j] + residual[(l * m1 + i) * m2 + j];
  }
};

}  // namespace

TEST_CASE("axes that merge nowhere, addends that lie in other orders: small, tiled and as rows") {
  struct extents {
    std::int64_t m1, m2, n, k1, k2;
  };
  for (extents const& e : {extents{2, 3, 4, 5, 2},
                           {7, 19, 150, 13, 29},
                           {3, 2, 1, 70, 9},
                           {1, 1, 600, 3, 5},
                           {9, 5, 7, 1, 1},
                           {2, 2, 2, 0, 3},
                           {0, 2, 2, 3, 3}}) {
    many_axes x(e.m1, e.m2, e.n, e.k1, e.k2);
    contract(x.problem());
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < e.m1; ++i)
      for (std::int64_t j = 0; j < e.m2; ++j)
        for (std::int64_t l = 0; l < e.n; ++l)
          wrong += !(x.c[(i * e.m2 + j) * e.n + l] == x.expected(i, j, l));
    CHECK_MESSAGE(wrong == 0, e.m1, " ", e.m2, " ", e.n, " ", e.k1, " ", e.k2);
  }
}

TEST_CASE("each array has its own dtype within its kind") {
  std::vector<ricci::bf16> a(40 * 30);
  std::vector<float> b(30 * 50);
  std::vector<ricci::f16> c(40 * 50);
  for (int i = 0; i < 1200; ++i) a[i] = ricci::bf16(i % 5 - 2);
  for (int i = 0; i < 1500; ++i) b[i] = static_cast<float>(i % 7 - 3);
  contraction_axis const m{40, 30, 0, 50}, n{50, 0, 1, 1}, k{30, 1, 50, 0};
  contraction_problem p;
  p.a = a.data();
  p.a_type = dtype::bf16;
  p.b = b.data();
  p.c = c.data();
  p.c_type = dtype::f16;
  p.m = &m;
  p.n = &n;
  p.k = &k;
  p.ms = p.ns = p.ks = 1;
  contract(p);
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 50; ++j) {
      float sum = 0;
      for (int q = 0; q < 30; ++q) sum += static_cast<float>(a[i * 30 + q]) * b[q * 50 + j];
      REQUIRE(static_cast<float>(c[i * 50 + j]) == sum);
    }
  p.b_type = dtype::f64;
  CHECK_THROWS_AS(contract(p), ricci::value_error);
  p.b_type = dtype::f32;
  p.activation = ricci::opcode::sin;
  CHECK_THROWS_AS(contract(p), ricci::value_error);
}

TEST_CASE("NaN and infinity go where they belong") {
  float const nan = std::nanf("");
  std::vector<float> a(3 * 4, 1), b(4 * 5, 1), c(3 * 5, 0);
  a[1] = nan;               // row 0
  b[5 * 2 + 3] = INFINITY;  // column 3
  contraction_axis const m{3, 4, 0, 5}, n{5, 0, 1, 1}, k{4, 1, 5, 0};
  contraction_problem p;
  p.a = a.data();
  p.b = b.data();
  p.c = c.data();
  p.m = &m;
  p.n = &n;
  p.k = &k;
  p.ms = p.ns = p.ks = 1;
  p.activation = ricci::opcode::relu;
  contract(p);
  for (int j = 0; j < 5; ++j) CHECK(std::isnan(c[j]));
  CHECK(c[5] == 4);
  CHECK(std::isinf(c[8]));
}
