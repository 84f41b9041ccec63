#include "kernels/layer_norm/layer_norm.hpp"

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

constexpr double eps = 1e-5;

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

struct result {
  std::vector<double> y, mean, rstd, dx, dscale, dbias;
};

// The definition in f64; scale and bias may be empty.
template <class T> result reference(int64_t rows, int64_t width, std::vector<T> const& x,
                                    std::vector<T> const& scale, std::vector<T> const& bias,
                                    std::vector<T> const& dy) {
  result e;
  e.y.resize(x.size());
  e.dx.resize(x.size());
  e.dscale.assign(static_cast<std::size_t>(width), 0);
  e.dbias = e.dscale;
  for (int64_t r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < width; ++c) mean += wide(x[r * width + c]) / width;
    for (int64_t c = 0; c < width; ++c)
      variance += std::pow(wide(x[r * width + c]) - mean, 2) / width;
    double const rstd = 1 / std::sqrt(variance + eps);
    e.mean.push_back(mean);
    e.rstd.push_back(rstd);
    double g_mean = 0, gn_mean = 0;
    auto const n = [&](int64_t c) { return (wide(x[r * width + c]) - mean) * rstd; };
    auto const g = [&](int64_t c) {
      return wide(dy[r * width + c]) * (scale.empty() ? 1.0 : wide(scale[c]));
    };
    for (int64_t c = 0; c < width; ++c) {
      e.y[r * width + c] =
          n(c) * (scale.empty() ? 1 : wide(scale[c])) + (bias.empty() ? 0 : wide(bias[c]));
      g_mean += g(c) / width;
      gn_mean += g(c) * n(c) / width;
      e.dscale[c] += wide(dy[r * width + c]) * n(c);
      e.dbias[c] += wide(dy[r * width + c]);
    }
    for (int64_t c = 0; c < width; ++c)
      e.dx[r * width + c] = rstd * (g(c) - g_mean - n(c) * gn_mean);
  }
  return e;
}

// Relative to 1 + |want|: the rounding of the result, and the sums in f32.
template <class T> constexpr double tolerance = 1e-13;
template <> constexpr double tolerance<float> = 4e-6;
template <> constexpr double tolerance<bf16> = 5e-3;
template <> constexpr double tolerance<f16> = 7e-4;

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

template <class T> void check(int64_t rows, int64_t width, bool affine) {
  using C = ricci::accumulator_t<T>;
  dtype const type = ricci::dtype_of<T>;
  INFO(std::string(ricci::name_of<T>()), " ", rows, " x ", width);
  auto const x = values<T>(rows * width, 1);
  auto const dy = values<T>(rows * width, 100003);
  auto const scale = values<T>(affine ? width : 0, 7);
  auto const bias = values<T>(affine ? width : 0, 77);
  auto const pointer = [&](std::vector<T> const& v) { return affine ? v.data() : nullptr; };
  std::vector<T> y(x.size()), dx(x.size(), T(9));
  std::vector<T> dscale(static_cast<std::size_t>(width), T(9)), dbias = dscale;
  std::vector<C> mean(static_cast<std::size_t>(rows)), rstd = mean;
  auto const e = reference(rows, width, x, scale, bias, dy);
  k::layer_norm(type, rows, width, x.data(), pointer(scale), pointer(bias), eps, y.data(),
                mean.data(), rstd.data());
  CHECK(largest_error(y, e.y) <= tolerance<T>);
  if (width > 0) {
    CHECK(largest_error(mean, e.mean) <= tolerance<T>);
    // A row of one element has rstd = 1 / sqrt(eps), exactly; otherwise it is about 1.
    CHECK(largest_error(rstd, e.rstd) <= tolerance<T>);
  }
  k::layer_norm_backward(type, rows, width, x.data(), pointer(scale), mean.data(), rstd.data(),
                         dy.data(), dx.data(), dscale.data(), dbias.data());
  CHECK(largest_error(dx, e.dx) <= 2 * tolerance<T>);
  CHECK(largest_error(dscale, e.dscale) <= 2 * tolerance<T>);
  CHECK(largest_error(dbias, e.dbias) <= 2 * tolerance<T>);
}

template <class A> bool same_bits(std::vector<A> const& a, std::vector<A> const& b) {
  return same_bytes(a.data(), b.data(), a.size() * sizeof(A));
}

}  // namespace

TEST_CASE("layer_norm and its gradients follow the definition") {
  for (int64_t const rows : {0, 1, 7, 40})
    for (int64_t const width : {0, 3, 15, 16, 17, 64, 257})
      for (bool const affine : {true, false}) {
        check<float>(rows, width, affine);
        check<double>(rows, width, affine);
        check<bf16>(rows, width, affine);
        check<f16>(rows, width, affine);
      }
  check<double>(5, 1, true);
  check<float>(3001, 5, true);
}

TEST_CASE("layer_norm backward agrees with central differences") {
  int64_t const rows = 3, width = 5;
  auto x = values<double>(rows * width, 3);
  auto scale = values<double>(width, 5);
  auto bias = values<double>(width, 9);
  auto const dy = values<double>(rows * width, 11);
  std::vector<double> y(x.size()), mean(rows), rstd(rows), dx(x.size()), dscale(width),
      dbias(width);
  auto const loss = [&] {
    k::layer_norm(dtype::f64, rows, width, x.data(), scale.data(), bias.data(), eps, y.data(),
                  mean.data(), rstd.data());
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
    return sum;
  };
  loss();
  k::layer_norm_backward(dtype::f64, rows, width, x.data(), scale.data(), mean.data(), rstd.data(),
                         dy.data(), dx.data(), dscale.data(), dbias.data());
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
  compare(bias, dbias);
}

TEST_CASE("a row far from zero keeps its variance") {
  std::vector<float> const x{10000.0f, 10001.0f, 10002.0f, 10003.0f};
  std::vector<float> y(4);
  k::layer_norm(dtype::f32, 1, 4, x.data(), nullptr, nullptr, 0.0, y.data(), nullptr, nullptr);
  CHECK(y[0] == doctest::Approx(-1.5 / std::sqrt(1.25)).epsilon(1e-6));
  CHECK(y[2] == doctest::Approx(0.5 / std::sqrt(1.25)).epsilon(1e-6));
}

TEST_CASE("each gradient can be asked for alone, dx in place of dy") {
  int64_t const rows = 20, width = 33;
  auto const x = values<float>(rows * width, 1);
  auto const dy = values<float>(rows * width, 8);
  auto const scale = values<float>(width, 2);
  std::vector<float> y(x.size()), mean(rows), rstd(rows), all_dx(x.size()), all_dscale(width),
      all_dbias(width), dscale(width), dbias(width);
  k::layer_norm(dtype::f32, rows, width, x.data(), scale.data(), nullptr, eps, y.data(),
                mean.data(), rstd.data());
  auto const backward = [&](float const* slope, float* dx, float* ds, float* db) {
    k::layer_norm_backward(dtype::f32, rows, width, x.data(), scale.data(), mean.data(),
                           rstd.data(), slope, dx, ds, db);
  };
  backward(dy.data(), all_dx.data(), all_dscale.data(), all_dbias.data());
  backward(dy.data(), nullptr, dscale.data(), nullptr);
  backward(dy.data(), nullptr, nullptr, dbias.data());
  auto in_place = dy;
  backward(in_place.data(), in_place.data(), nullptr, nullptr);
  CHECK(same_bits(all_dscale, dscale));
  CHECK(same_bits(all_dbias, dbias));
  CHECK(same_bits(all_dx, in_place));
}

TEST_CASE("layer_norm backward gives the same bits at 1, 2 and 3 threads") {
  int const before = k::threads();
  int64_t const rows = 3000, width = 37;
  auto const x = values<float>(rows * width, 1);
  auto const dy = values<float>(rows * width, 5);
  std::vector<float> y(x.size()), mean(rows), rstd(rows), dx(x.size()), one(2 * width);
  k::layer_norm(dtype::f32, rows, width, x.data(), nullptr, nullptr, eps, y.data(), mean.data(),
                rstd.data());
  for (int const count : {1, 2, 3}) {
    k::set_threads(count);
    std::vector<float> sums(2 * width);
    k::layer_norm_backward(dtype::f32, rows, width, x.data(), nullptr, mean.data(), rstd.data(),
                           dy.data(), dx.data(), sums.data(), sums.data() + width);
    if (count == 1) one = sums;
    CHECK(same_bits(one, sums));
  }
  k::set_threads(before);
}

TEST_CASE("layer_norm refuses what it cannot compute") {
  float x = 0;
  CHECK_THROWS_AS(k::layer_norm(dtype::i64, 1, 1, &x, nullptr, nullptr, eps, &x, nullptr, nullptr),
                  ricci::value_error);
  CHECK_THROWS_AS(k::layer_norm(dtype::f32, 1, -2, &x, nullptr, nullptr, eps, &x, nullptr, nullptr),
                  ricci::shape_error);
}
