#include "kernels/rms_norm/rms_norm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <ricci/error/exceptions.hpp>
#include <string>
#include <vector>

#include "kernels/parallel/parallel.hpp"
#include "tests/unit/kernels/same_bytes.hpp"

namespace k = ricci::kernels;
using ricci::bf16;
using ricci::dtype;
using ricci::f16;
using std::int64_t;

namespace {

constexpr double eps = 1e-6;

// Values in [-2, 2) that repeat only after 2^32: Knuth's multiplier, TAOCP 2, 3.3.4.
template <class T> std::vector<T> values(int64_t count, int64_t seed) {
  std::vector<T> x(static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    auto const bits =
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed + i) * 2654435761u);
    x[i] = static_cast<T>(2.0f * (static_cast<float>(bits >> 8) / (1 << 23) - 1.0f));
  }
  return x;
}

template <class T> double wide(T value) { return static_cast<double>(value); }

template <class A>
double largest_error(std::vector<A> const& got, std::vector<double> const& want) {
  REQUIRE(got.size() == want.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const error = std::abs(wide(got[i]) - want[i]) / (1.0 + std::abs(want[i]));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

// Relative to 1 + |want|: the rounding of the result, and the sums in f32.
template <class T> constexpr double tolerance = 1e-13;
template <> constexpr double tolerance<float> = 4e-6;
template <> constexpr double tolerance<bf16> = 5e-3;
template <> constexpr double tolerance<f16> = 7e-4;

template <class T> void check(int64_t rows, int64_t width, bool scaled) {
  using C = ricci::accumulator_t<T>;
  dtype const type = ricci::dtype_of<T>;
  INFO(std::string(ricci::name_of<T>()), " ", rows, " x ", width);
  auto const x = values<T>(rows * width, 1);
  auto const dy = values<T>(rows * width, 100003);
  auto const scale = values<T>(width, 7);
  std::vector<T> y(x.size()), dx(x.size(), T(9)), dscale(static_cast<std::size_t>(width), T(9));
  std::vector<C> rstd(static_cast<std::size_t>(rows));
  std::vector<double> want_y(x.size()), want_dx(x.size()), want_dscale(dscale.size());
  for (int64_t r = 0; r < rows; ++r) {
    double square = 0, mean = 0;
    for (int64_t c = 0; c < width; ++c) square += std::pow(wide(x[r * width + c]), 2) / width;
    double const rs = 1 / std::sqrt(square + eps);
    auto const n = [&](int64_t c) { return wide(x[r * width + c]) * rs; };
    auto const g = [&](int64_t c) {
      return wide(dy[r * width + c]) * (scaled ? wide(scale[c]) : 1.0);
    };
    for (int64_t c = 0; c < width; ++c) {
      want_y[r * width + c] = n(c) * (scaled ? wide(scale[c]) : 1.0);
      want_dscale[c] += wide(dy[r * width + c]) * n(c);
      mean += g(c) * n(c) / width;
    }
    for (int64_t c = 0; c < width; ++c) want_dx[r * width + c] = rs * (g(c) - n(c) * mean);
  }
  void const* const factor = scaled ? scale.data() : nullptr;
  k::rms_norm(type, rows, width, x.data(), factor, eps, y.data(), rstd.data());
  k::rms_norm_backward(type, rows, width, x.data(), factor, rstd.data(), dy.data(), dx.data(),
                       dscale.data());
  CHECK(largest_error(y, want_y) <= tolerance<T>);
  CHECK(largest_error(dx, want_dx) <= 2 * tolerance<T>);
  CHECK(largest_error(dscale, want_dscale) <= 2 * tolerance<T>);
}

}  // namespace

TEST_CASE("rms_norm and its gradients follow the definition") {
  for (int64_t const rows : {0, 1, 7, 40})
    for (int64_t const width : {0, 3, 15, 16, 17, 64, 257})
      for (bool const scaled : {true, false}) {
        check<float>(rows, width, scaled);
        check<double>(rows, width, scaled);
        check<bf16>(rows, width, scaled);
        check<f16>(rows, width, scaled);
      }
}

TEST_CASE("rms_norm backward agrees with central differences") {
  int64_t const rows = 3, width = 5;
  auto x = values<double>(rows * width, 3);
  auto scale = values<double>(width, 5);
  auto const dy = values<double>(rows * width, 11);
  std::vector<double> y(x.size()), rstd(rows), dx(x.size()), dscale(width);
  auto const loss = [&] {
    k::rms_norm(dtype::f64, rows, width, x.data(), scale.data(), eps, y.data(), rstd.data());
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
    return sum;
  };
  loss();
  k::rms_norm_backward(dtype::f64, rows, width, x.data(), scale.data(), rstd.data(), dy.data(),
                       dx.data(), dscale.data());
  auto const compare = [&](std::vector<double>& v, std::vector<double> const& dv) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      double const kept = v[i];
      v[i] = kept + 1e-5;
      double const up = loss();
      v[i] = kept - 1e-5;
      double const down = loss();
      v[i] = kept;
      CHECK(std::abs((up - down) / 2e-5 - dv[i]) < 1e-7);
    }
  };
  compare(x, dx);
  compare(scale, dscale);
}

TEST_CASE("rms_norm backward gives the same bits at 1, 2 and 3 threads") {
  int const before = k::threads();
  int64_t const rows = 3000, width = 37;
  auto const x = values<float>(rows * width, 1);
  auto const dy = values<float>(rows * width, 5);
  std::vector<float> y(x.size()), rstd(rows), dx(x.size()), one;
  k::rms_norm(dtype::f32, rows, width, x.data(), nullptr, eps, y.data(), rstd.data());
  for (int const count : {1, 2, 3}) {
    k::set_threads(count);
    std::vector<float> sums(width);
    k::rms_norm_backward(dtype::f32, rows, width, x.data(), nullptr, rstd.data(), dy.data(),
                         dx.data(), sums.data());
    if (count == 1) one = sums;
    CHECK(same_bytes(one.data(), sums.data(), sizeof(float) * width));
  }
  k::set_threads(before);
}

TEST_CASE("rms_norm refuses what it cannot compute") {
  float x = 0;
  CHECK_THROWS_AS(k::rms_norm(dtype::u8, 1, 1, &x, nullptr, eps, &x, nullptr), ricci::value_error);
  CHECK_THROWS_AS(k::rms_norm(dtype::f32, -1, 1, &x, nullptr, eps, &x, nullptr),
                  ricci::shape_error);
}
