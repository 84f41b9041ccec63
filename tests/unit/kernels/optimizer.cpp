#include "kernels/optimizer/optimizer.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <ricci/error/exceptions.hpp>
#include <string>
#include <vector>

#include "kernels/parallel/parallel.hpp"

namespace k = ricci::kernels;
using ricci::bf16;
using ricci::dtype;
using ricci::f16;
using std::int64_t;

namespace {

// Values in [-1, 1) that repeat only after 2^32: Knuth's multiplier, TAOCP 2, 3.3.4.
template <class T> std::vector<T> values(int64_t count, int64_t seed) {
  std::vector<T> x(static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    auto const bits =
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed + i) * 2654435761u);
    x[i] = static_cast<T>(static_cast<float>(bits >> 8) / (1 << 23) - 1.0f);
  }
  return x;
}

template <class A>
double largest_error(std::vector<A> const& got, std::vector<double> const& want) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const error = std::abs(static_cast<double>(got[i]) - want[i]) / (1 + std::abs(want[i]));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

template <class T> std::vector<double> widened(std::vector<T> const& x) {
  std::vector<double> wide;
  for (T const v : x) wide.push_back(static_cast<double>(v));
  return wide;
}

// Per step: one rounding of each of a few operations; narrow parameters keep a master.
template <class T> constexpr double tolerance = 1e-14;
template <> constexpr double tolerance<float> = 2e-6;
template <> constexpr double tolerance<bf16> = 4e-3;
template <> constexpr double tolerance<f16> = 5e-4;

template <class T> void check_adamw(int64_t count, bool with_master) {
  using C = ricci::accumulator_t<T>;
  INFO(std::string(ricci::name_of<T>()), " ", count);
  auto p = values<T>(count, 1);
  std::vector<C> master(p.size()), m(p.size()), v(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) master[i] = static_cast<C>(p[i]);
  auto want = widened(p);
  std::vector<double> want_m(p.size()), want_v(p.size());
  for (int64_t step = 1; step <= 4; ++step) {
    auto const g = values<T>(count, 1000 * step);
    k::adamw_options const o{1e-2, 0.9, 0.95, 1e-8, 0.1, step, 0.5};
    k::adamw_step(
        {ricci::dtype_of<T>, count, p.data(), g.data(), with_master ? master.data() : nullptr},
        m.data(), v.data(), o);
    for (std::size_t i = 0; i < p.size(); ++i) {
      double const slope = 0.5 * static_cast<double>(g[i]);
      want[i] -= 1e-2 * 0.1 * want[i];
      want_m[i] = 0.9 * want_m[i] + 0.1 * slope;
      want_v[i] = 0.95 * want_v[i] + 0.05 * slope * slope;
      double const mean = want_m[i] / (1 - std::pow(0.9, step));
      double const square = want_v[i] / (1 - std::pow(0.95, step));
      want[i] -= 1e-2 * mean / (std::sqrt(square) + 1e-8);
    }
  }
  CHECK(largest_error(p, want) <= tolerance<T>);
  double const wide_tolerance = sizeof(C) == 8 ? 1e-14 : 2e-6;
  CHECK(largest_error(m, want_m) <= wide_tolerance);
  CHECK(largest_error(v, want_v) <= wide_tolerance);
  if (with_master) CHECK(largest_error(master, want) <= wide_tolerance);
}

template <class T> void check_sgd(int64_t count, k::sgd_options o, bool with_velocity) {
  using C = ricci::accumulator_t<T>;
  auto p = values<T>(count, 1);
  std::vector<C> master(p.size()), u(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) master[i] = static_cast<C>(p[i]);
  auto want = widened(p);
  std::vector<double> want_u(p.size());
  for (int64_t step = 1; step <= 3; ++step) {
    auto const g = values<T>(count, 1000 * step);
    o.first_step = step == 1;
    k::sgd_step({ricci::dtype_of<T>, count, p.data(), g.data(), master.data()},
                with_velocity ? u.data() : nullptr, o);
    for (std::size_t i = 0; i < p.size(); ++i) {
      double slope = o.gradient_scale * static_cast<double>(g[i]) + o.weight_decay * want[i];
      if (with_velocity) {
        want_u[i] = step == 1 ? slope : o.momentum * want_u[i] + (1 - o.dampening) * slope;
        slope = o.nesterov ? slope + o.momentum * want_u[i] : want_u[i];
      }
      want[i] -= o.learning_rate * slope;
    }
  }
  CHECK(largest_error(p, want) <= tolerance<T>);
  CHECK(largest_error(master, want) <= (sizeof(C) == 8 ? 1e-14 : 2e-6));
}

template <class T> void check_squares(int64_t count) {
  auto const x = values<T>(count, 3);
  long double want = 0;
  for (T const v : x) want += std::pow(static_cast<long double>(static_cast<double>(v)), 2);
  CHECK(k::sum_of_squares(ricci::dtype_of<T>, count, x.data()) ==
        doctest::Approx(static_cast<double>(want)).epsilon(1e-13));
}

}  // namespace

TEST_CASE("adamw_step follows the paper") {
  for (int64_t const count : {0, 1, 15, 16, 17, 257, 40000}) {
    check_adamw<float>(count, false);
    check_adamw<float>(count, true);
    check_adamw<double>(count, false);
    if (count > 257) continue;
    check_adamw<bf16>(count, true);
    check_adamw<f16>(count, true);
  }
}

TEST_CASE("weight decay is decoupled from the gradient") {
  // By hand: p = 1 - 0.1 * 0.1 * 1 - 0.1 * 1 / 1.
  double p = 1, m = 0, v = 0;
  double const g = 1;
  k::adamw_step({dtype::f64, 1, &p, &g}, &m, &v, {0.1, 0.9, 0.999, 0.0, 0.1, 1});
  CHECK(p == doctest::Approx(0.89).epsilon(1e-14));
}

TEST_CASE("a bf16 parameter with a master keeps steps below its resolution") {
  bf16 p(1.0f);
  bf16 const g(1.0f);
  float master = 1, m = 0, v = 0;
  for (int64_t step = 1; step <= 100; ++step)
    k::adamw_step({dtype::bf16, 1, &p, &g, &master}, &m, &v, {1e-4, 0.9, 0.999, 1e-8, 0.0, step});
  CHECK(master == doctest::Approx(0.99).epsilon(1e-5));
  CHECK(static_cast<float>(p) == static_cast<float>(bf16(master)));
}

TEST_CASE("sgd_step with and without momentum, dampening, nesterov and weight decay") {
  for (int64_t const count : {0, 1, 17, 257}) {
    check_sgd<float>(count, {.learning_rate = 0.1}, false);
    check_sgd<float>(count, {.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01}, true);
    check_sgd<double>(
        count, {.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.3, .gradient_scale = 2},
        true);
    check_sgd<double>(count, {.learning_rate = 0.1, .momentum = 0.8, .nesterov = true}, true);
    check_sgd<bf16>(count, {.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}, true);
    check_sgd<f16>(count, {.learning_rate = 0.1, .momentum = 0.9}, true);
  }
}

TEST_CASE("sum_of_squares adds in f64") {
  for (int64_t const count : {0, 1, 7, 15, 16, 17, 31, 33, 257, 32768, 70001}) {
    check_squares<float>(count);
    check_squares<double>(count);
    if (count > 32768) continue;
    check_squares<bf16>(count);
    check_squares<f16>(count);
  }
  std::vector<float> const large{1e30f, 1e-30f};  // the square overflows f32
  CHECK(k::sum_of_squares(dtype::f32, 2, large.data()) == doctest::Approx(1e60).epsilon(1e-6));
  std::vector<float> const broken{1, std::numeric_limits<float>::quiet_NaN()};
  CHECK(std::isnan(k::sum_of_squares(dtype::f32, 2, broken.data())));
}

TEST_CASE("sum_of_squares gives the same bits at 1, 2 and 3 threads") {
  int const before = k::threads();
  auto const x = values<float>(200003, 1);
  k::set_threads(1);
  double const one = k::sum_of_squares(dtype::f32, 200003, x.data());
  for (int const count : {2, 3}) {
    k::set_threads(count);
    CHECK(k::sum_of_squares(dtype::f32, 200003, x.data()) == one);
  }
  k::set_threads(before);
}

TEST_CASE("optimizers refuse what they cannot compute") {
  float x = 0;
  k::adamw_options const o{1e-3, 0.9, 0.999, 1e-8, 0.0, 0};
  CHECK_THROWS_AS(k::adamw_step({dtype::f32, 1, &x, &x}, &x, &x, o), ricci::value_error);
  CHECK_THROWS_AS(k::sgd_step({dtype::i32, 1, &x, &x}, nullptr, {.learning_rate = 1}),
                  ricci::value_error);
  CHECK_THROWS_AS(k::sgd_step({dtype::f32, -1, &x, &x}, nullptr, {.learning_rate = 1}),
                  ricci::shape_error);
  CHECK_THROWS_AS(
      k::sgd_step({dtype::f32, 1, &x, &x}, nullptr, {.learning_rate = 1, .momentum = 0.9}),
      ricci::value_error);
}
