#include "kernels/math/vector_math.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace simd = ricci::kernels::simd;

// The references are glibc's f64 functions, or formulas of them in long double, rounded to f32 at
// the end; the f32 arguments are exact in them.
namespace {

constexpr int n = simd::lanes<float>;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

// Distance in units in the last place of the f32 nearest to the reference.
double ulps(float got, double reference) {
  float const nearest = static_cast<float>(reference);
  if (std::isnan(nearest) || std::isnan(got))
    return std::isnan(nearest) == std::isnan(got) ? 0 : 1e9;
  if (got == nearest) return 0;
  if (std::isinf(nearest) || std::isinf(got)) {
    // One past the largest finite value is infinity: count it as one unit.
    constexpr float top = std::numeric_limits<float>::max();
    return std::fabs(got) >= top && std::fabs(nearest) >= top ? 1 : 1e9;
  }
  double const unit = static_cast<double>(std::nextafter(std::fabs(nearest), infinity)) -
                      static_cast<double>(std::fabs(nearest));
  return std::fabs(static_cast<double>(got) - reference) / unit;
}

// Every `step`-th f32 by bits: both signs, subnormals, infinities, NaN.
std::vector<float> sweep(std::uint32_t step) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += step)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (float const v : {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 2.0f, infinity, -infinity, not_a_number,
                        std::numeric_limits<float>::min(), std::numeric_limits<float>::max(),
                        std::numeric_limits<float>::denorm_min(), 88.7f, 88.73f, -87.3f, -103.9f})
    values.push_back(v);
  while (values.size() % n != 0) values.push_back(1.0f);
  return values;
}

template <class F, class G>
double worst(F function, G reference, std::vector<float> const& arguments, double floor = 0) {
  double most = 0;
  float at = 0;
  for (std::size_t i = 0; i < arguments.size(); i += n) {
    float out[n];
    simd::store<float>(out, function(simd::load<float>(arguments.data() + i)));
    for (int l = 0; l < n; ++l) {
      double const expected = reference(static_cast<double>(arguments[i + l]));
      double u = ulps(out[l], expected);
      if (floor > 0 && std::fabs(out[l] - expected) < floor) u = 0;
      if (u > most) most = u, at = arguments[i + l];
    }
  }
  INFO("worst at " << at);
  return most;
}

constexpr std::uint32_t step = 20011;  // a prime: about 215,000 arguments

}  // namespace

TEST_CASE("exp, log, sigmoid, tanh and erf are within 2 units over all of f32") {
  auto const all = sweep(step);
  CHECK(worst([](auto x) { return simd::exp<float>(x); }, [](double x) { return std::exp(x); },
              all) <= 2);
  CHECK(worst([](auto x) { return simd::log<float>(x); }, [](double x) { return std::log(x); },
              all) <= 2);
  CHECK(worst([](auto x) { return simd::tanh<float>(x); }, [](double x) { return std::tanh(x); },
              all) <= 2);
  CHECK(worst([](auto x) { return simd::erf<float>(x); }, [](double x) { return std::erf(x); },
              all) <= 2);
  CHECK(worst([](auto x) { return simd::sigmoid<float>(x); },
              [](double x) { return 1 / (1 + std::exp(-x)); }, all) <= 2.5);
}

TEST_CASE("sin and cos are within 2 units or 1e-7") {
  auto const all = sweep(step);
  CHECK(worst([](auto x) { return simd::sin<float>(x); }, [](double x) { return std::sin(x); }, all,
              1e-7) <= 2);
  CHECK(worst([](auto x) { return simd::cos<float>(x); }, [](double x) { return std::cos(x); }, all,
              1e-7) <= 2);
}

TEST_CASE("log is accurate around 1, erf and tanh around the seams of their two formulas") {
  std::vector<float> around;
  for (float const centre : {1.0f, 0.625f, 0.8f, 0.70710678f, 1.4142135f, 2.0f})
    for (int i = -4000; i < 4000; ++i)
      around.push_back(centre * (1 + static_cast<float>(i) * 1e-5f));
  CHECK(worst([](auto x) { return simd::log<float>(x); }, [](double x) { return std::log(x); },
              around) <= 2);
  CHECK(worst([](auto x) { return simd::erf<float>(x); }, [](double x) { return std::erf(x); },
              around) <= 2);
  CHECK(worst([](auto x) { return simd::tanh<float>(x); }, [](double x) { return std::tanh(x); },
              around) <= 2);
}

TEST_CASE("the activations and their derivatives") {
  std::vector<float> near;  // [-20, 20], finer around 0
  for (int i = -60000; i < 60000; ++i) {
    double const t = i / 60000.0;
    near.push_back(static_cast<float>(20 * t * t * t));
  }
  auto const sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  auto const z = [](double x) { return 2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x); };
  auto const dz = [](double x) { return 2 * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x); };
  auto const normal = [](double x) { return 0.5 * std::erfc(-x / M_SQRT2); };
  auto const density = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); };
  CHECK(worst([](auto x) { return simd::silu<float>(x); }, [&](double x) { return x * sigmoid(x); },
              near) <= 3);
  CHECK(worst([](auto x) { return simd::gelu_erf<float>(x); },
              [&](double x) { return x * normal(x); }, near, 1.2e-38) <= 6);
  // z is rounded before it goes through exp, which makes |z| units of one: 1e-8 is 11 of them at
  // x = -2.5, where the value is -0.015, and the bound from there down.
  CHECK(worst([](auto x) { return simd::gelu_tanh<float>(x); },
              [&](double x) { return x * sigmoid(z(x)); }, near, 2e-9) <= 12);
  // A derivative has zeros, near which only the absolute error is bounded.
  CHECK(worst([](auto x) { return simd::silu_grad<float>(x); },
              [&](double x) { return sigmoid(x) + x * sigmoid(x) * sigmoid(-x); }, near,
              2e-7) <= 4);
  CHECK(worst([](auto x) { return simd::gelu_tanh_grad<float>(x); },
              [&](double x) { return sigmoid(z(x)) + x * sigmoid(z(x)) * sigmoid(-z(x)) * dz(x); },
              near, 4e-7) <= 4);
  CHECK(worst([](auto x) { return simd::gelu_erf_grad<float>(x); },
              [&](double x) { return normal(x) + x * density(x); }, near, 2e-7) <= 4);
}

TEST_CASE("the activations at infinity and NaN") {
  auto const at = [](auto f, float v) { return f(simd::fill<float>(v))[0]; };
  auto const silu = [](auto x) { return simd::silu<float>(x); };
  auto const gelu_tanh = [](auto x) { return simd::gelu_tanh<float>(x); };
  auto const gelu_erf = [](auto x) { return simd::gelu_erf<float>(x); };
  auto const silu_grad = [](auto x) { return simd::silu_grad<float>(x); };
  auto const gelu_tanh_grad = [](auto x) { return simd::gelu_tanh_grad<float>(x); };
  auto const gelu_erf_grad = [](auto x) { return simd::gelu_erf_grad<float>(x); };
  auto const check = [&](auto f, float low, float high) {
    CHECK(at(f, -infinity) == low);
    CHECK(at(f, -3e38f) == low);
    CHECK(at(f, infinity) == high);
    CHECK(std::isnan(at(f, not_a_number)));
  };
  check(silu, 0.0f, infinity);
  check(gelu_tanh, 0.0f, infinity);
  check(gelu_erf, 0.0f, infinity);
  check(silu_grad, 0.0f, 1.0f);
  check(gelu_tanh_grad, 0.0f, 1.0f);
  check(gelu_erf_grad, 0.0f, 1.0f);
}

TEST_CASE("power is within 2 units, and has the special cases of C's pow") {
  std::vector<float> values{
      0.0f,        -0.0f,       1.0f,       -1.0f,       0.5f,         -0.5f,       2.0f,
      -2.0f,       3.0f,        -3.0f,      2.5f,        -2.5f,        1e-40f,      -1e-40f,
      1e30f,       -1e30f,      infinity,   -infinity,   not_a_number, 16777215.0f, 16777216.0f,
      33554433.0f, 0.99999994f, 1.0000001f, -1.0000001f, 1e-3f,        88.0f};
  for (auto const v : sweep(40000009)) values.push_back(v);
  for (float const x : values)
    for (float const y : values) {
      double const expected = std::pow(static_cast<double>(x), static_cast<double>(y));
      float const got = simd::power<float>(simd::fill<float>(x), simd::fill<float>(y))[0];
      double const u = ulps(got, expected);
      INFO("power(" << x << ", " << y << ") = " << got << ", not " << expected);
      CHECK(u <= 2);
      if (expected == 0) CHECK(std::signbit(got) == std::signbit(expected));
    }
}

TEST_CASE("the f64 functions are those of libm") {
  using C = double;
  for (double const x : {-30.0, -2.0, -0.3, -1e-9, 0.0, 1e-9, 0.4, 1.7, 12.0, 700.0}) {
    auto const v = simd::fill<C>(x);
    CHECK(simd::exp<C>(v)[0] == doctest::Approx(std::exp(x)).epsilon(1e-15));
    CHECK(simd::tanh<C>(v)[0] == std::tanh(x));
    CHECK(simd::sin<C>(v)[0] == std::sin(x));
    CHECK(simd::erf<C>(v)[0] == std::erf(x));
    CHECK(simd::sigmoid<C>(v)[0] == doctest::Approx(1 / (1 + std::exp(-x))).epsilon(1e-15));
    CHECK(simd::gelu_erf<C>(v)[0] ==
          doctest::Approx(x * 0.5 * std::erfc(-x / M_SQRT2)).epsilon(1e-14));
  }
}
