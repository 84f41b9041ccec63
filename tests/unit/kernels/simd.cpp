#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/simd/exp.hpp"
#include "kernels/simd/row.hpp"
#include "kernels/simd/transpose.hpp"

namespace simd = ricci::kernels::simd;
using ricci::bf16;
using ricci::f16;

namespace {

template <class C> C unit_in_last_place(C x) {
  return std::nextafter(std::abs(x), std::numeric_limits<C>::infinity()) - std::abs(x);
}

// Largest error of f in units in the last place of the exact result.
template <class C, class F, class G> long double worst_of(C low, C high, int count, F f, G exact) {
  long double worst = 0;
  for (int i = 0; i <= count; ++i) {
    C const x = low + (high - low) * static_cast<C>(i) / static_cast<C>(count);
    long double const want = exact(static_cast<long double>(x));
    C const got = f(simd::fill<C>(x))[0];
    long double const error = std::abs(static_cast<long double>(got) - want) /
                              static_cast<long double>(unit_in_last_place(static_cast<C>(want)));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

template <class C> void check_limits() {
  C const infinity = std::numeric_limits<C>::infinity();
  auto const e = [](C x) { return simd::exp<C>(simd::fill<C>(x))[0]; };
  auto const p = [](C x) { return simd::exp2<C>(simd::fill<C>(x))[0]; };
  for (auto const& f : {+[](C x) { return simd::exp<C>(simd::fill<C>(x))[0]; },
                        +[](C x) { return simd::exp2<C>(simd::fill<C>(x))[0]; }}) {
    CHECK(f(C(0)) == C(1));
    CHECK(f(C(-0.0)) == C(1));
    CHECK(f(-infinity) == C(0));
    CHECK(f(infinity) == infinity);
    CHECK(f(C(1e6)) == infinity);
    CHECK(f(C(-1e6)) == C(0));
    CHECK(std::isnan(f(std::numeric_limits<C>::quiet_NaN())));
  }
  CHECK(p(C(10)) == C(1024));
  // Into the subnormals.
  C const deep = std::log(std::numeric_limits<C>::min()) - C(3);
  CHECK(std::abs(e(deep) - std::exp(deep)) <= 2 * std::numeric_limits<C>::denorm_min());
}

}  // namespace

TEST_CASE("exp is within 1 unit in the last place, exp2 within 1.25") {
  auto const e32 = [](simd::vec<float> x) { return simd::exp<float>(x); };
  auto const e64 = [](simd::vec<double> x) { return simd::exp<double>(x); };
  auto const p32 = [](simd::vec<float> x) { return simd::exp2<float>(x); };
  auto const p64 = [](simd::vec<double> x) { return simd::exp2<double>(x); };
  auto const e = [](long double x) { return std::exp(x); };
  auto const p = [](long double x) { return std::exp2(x); };
  CHECK(worst_of<float>(-87.0f, 88.5f, 100000, e32, e) < 1.0L);
  CHECK(worst_of<double>(-708.0, 709.5, 100000, e64, e) < 1.0L);
  CHECK(worst_of<float>(-125.5f, 127.9f, 100000, p32, p) < 1.25L);
  CHECK(worst_of<double>(-1021.5, 1023.9, 100000, p64, p) < 1.25L);
  CHECK(worst_of<float>(-1.0f, 1.0f, 100000, e32, e) < 1.0L);
  CHECK(worst_of<double>(-1.0, 1.0, 100000, e64, e) < 1.0L);
}

TEST_CASE("exp and exp2 keep their limits") {
  check_limits<float>();
  check_limits<double>();
}

TEST_CASE("narrow vectors convert as their elements do") {
  constexpr int n = simd::lanes<float>;
  bf16 from_bf[n], to_bf[n];
  f16 from_half[n], to_half[n];
  int wrong = 0;
  for (int first = 0; first < 65536; first += n) {
    float values[n];
    for (int i = 0; i < n; ++i) {
      auto const bits = static_cast<std::uint16_t>(first + i);
      from_bf[i] = bf16::from_bits(bits);
      from_half[i] = f16::from_bits(bits);
      // Between two values of either format.
      values[i] = static_cast<float>(from_bf[i]) * 1.0028f;
    }
    auto const bf = simd::load<float>(from_bf);
    auto const half = simd::load<float>(from_half);
    simd::store<float>(to_bf, simd::load<float>(values));
    simd::store<float>(to_half, simd::load<float>(values));
    auto const same = [](float a, float b) { return a == b || (a != a && b != b); };
    for (int i = 0; i < n; ++i) {
      wrong += !same(bf[i], static_cast<float>(from_bf[i]));
      wrong += !same(half[i], static_cast<float>(from_half[i]));
      wrong += !same(static_cast<float>(to_bf[i]), static_cast<float>(bf16(values[i])));
      wrong += !same(static_cast<float>(to_half[i]), static_cast<float>(f16(values[i])));
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("row loops visit every element once, partial vectors included") {
  for (int n = 0; n <= 100; ++n) {
    std::vector<float> x(static_cast<std::size_t>(n)), y(x.size() + 1, -1.0f);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] = static_cast<float>(i % 7 - 9);
    auto const load = [&](auto at) { return at.load(x.data()); };
    simd::for_row<float>(n, [&](auto at) { at.store(y.data(), load(at)); });
    for (int i = 0; i < n; ++i) CHECK(y[i] == x[i]);
    CHECK(y[n] == -1.0f);
    CHECK(simd::sum_row<float>(n, load) == sum);
    auto const both = simd::sum_row_twice<float>(
        n, [&](auto at) { return simd::two<simd::vec<float>>{load(at), load(at) * load(at)}; });
    CHECK(both.first == sum);
    float const top = simd::max_row<float>(n, load);
    CHECK(top == (n == 0 ? -std::numeric_limits<float>::infinity() : n > 6 ? -3.0f : x[n - 1]));
  }
}

TEST_CASE("transpose exchanges rows and lanes") {
  constexpr int n = simd::lanes<double>;
  simd::vec<double> rows[n];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) rows[i][j] = 100 * i + j;
  simd::transpose<double>(rows);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) CHECK(double(rows[i][j]) == 100 * j + i);
}
