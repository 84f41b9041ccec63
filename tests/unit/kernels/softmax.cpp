#include "kernels/softmax/softmax.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
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

constexpr double infinity = std::numeric_limits<double>::infinity();

struct shape {
  int64_t outer, axis, inner;
  int64_t count() const { return outer * axis * inner; }
};

// Values in [-3, 3) that repeat only after 2^32: Knuth's multiplier, TAOCP 2, 3.3.4.
template <class T> std::vector<T> values(int64_t count, int64_t seed) {
  std::vector<T> x(static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    auto const bits =
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed + i) * 2654435761u);
    x[i] = static_cast<T>(3.0f * (static_cast<float>(bits >> 8) / (1 << 23) - 1.0f));
  }
  return x;
}

// Calls f with the positions of each line along the axis.
template <class F> void for_lines(shape s, F f) {
  std::vector<int64_t> line(static_cast<std::size_t>(s.axis));
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < s.inner; ++i) {
      for (int64_t a = 0; a < s.axis; ++a) line[a] = (o * s.axis + a) * s.inner + i;
      f(o * s.inner + i, line);
    }
}

template <class T> std::vector<double> log_softmax_reference(shape s, std::vector<T> const& x) {
  std::vector<double> y(x.size());
  for_lines(s, [&](int64_t, std::vector<int64_t> const& line) {
    double top = -infinity, total = 0;
    for (auto const p : line) top = std::max(top, static_cast<double>(x[p]));
    for (auto const p : line) total += std::exp(static_cast<double>(x[p]) - top);
    for (auto const p : line)
      y[p] = top == -infinity ? -infinity : static_cast<double>(x[p]) - top - std::log(total);
  });
  return y;
}

// Relative to 1 + |want|: the rounding of the result, and the few roundings of the f32 within.
template <class T> constexpr double tolerance = 1e-14;
template <> constexpr double tolerance<float> = 1e-6;
template <> constexpr double tolerance<bf16> = 4e-3;
template <> constexpr double tolerance<f16> = 5e-4;

template <class T>
double largest_error(std::vector<T> const& got, std::vector<double> const& want) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const g = static_cast<double>(got[i]);
    if (g == want[i]) continue;
    double const error = std::abs(g - want[i]) / (1.0 + std::abs(want[i]));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

template <class T> void check(shape s) {
  dtype const type = ricci::dtype_of<T>;
  INFO(std::string(ricci::name_of<T>()), " ", s.outer, " ", s.axis, " ", s.inner);
  auto x = values<T>(s.count(), 1);
  if (s.count() > 2) x[1] = T(-infinity);
  auto const dy = values<T>(s.count(), 50021);
  std::vector<T> y(x.size(), T(9)), dx(x.size(), T(9));
  auto const want_log = log_softmax_reference(s, x);
  std::vector<double> want(x.size()), want_dx(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) want[i] = std::exp(want_log[i]);

  k::softmax(type, s.outer, s.axis, s.inner, x.data(), y.data());
  CHECK(largest_error(y, want) <= tolerance<T>);
  k::softmax_backward(type, s.outer, s.axis, s.inner, y.data(), dy.data(), dx.data());
  for_lines(s, [&](int64_t, std::vector<int64_t> const& line) {
    double sum = 0;
    for (auto const p : line) sum += static_cast<double>(y[p]) * static_cast<double>(dy[p]);
    for (auto const p : line)
      want_dx[p] = static_cast<double>(y[p]) * (static_cast<double>(dy[p]) - sum);
  });
  CHECK(largest_error(dx, want_dx) <= tolerance<T>);

  k::log_softmax(type, s.outer, s.axis, s.inner, x.data(), y.data());
  CHECK(largest_error(y, want_log) <= tolerance<T>);
  k::log_softmax_backward(type, s.outer, s.axis, s.inner, y.data(), dy.data(), dx.data());
  for_lines(s, [&](int64_t, std::vector<int64_t> const& line) {
    double sum = 0, top = -infinity;
    for (auto const p : line) {
      sum += static_cast<double>(dy[p]);
      top = std::max(top, static_cast<double>(y[p]));
    }
    for (auto const p : line)
      want_dx[p] = top == -infinity
                       ? 0
                       : static_cast<double>(dy[p]) - std::exp(static_cast<double>(y[p])) * sum;
  });
  CHECK(largest_error(dx, want_dx) <= 20 * tolerance<T>);  // the sum reaches 20 times one dy

  std::vector<T> lse(static_cast<std::size_t>(s.outer * s.inner));
  auto const dlse = values<T>(s.outer * s.inner, 70001);
  for_lines(s, [&](int64_t l, std::vector<int64_t> const& line) {
    double total = 0;
    for (auto const p : line) total += std::exp(static_cast<double>(x[p]));
    lse[l] = static_cast<T>(std::log(total));
    for (auto const p : line)
      want_dx[p] = total == 0 ? 0
                              : std::exp(static_cast<double>(x[p]) - static_cast<double>(lse[l])) *
                                    static_cast<double>(dlse[l]);
  });
  k::logsumexp_backward(type, s.outer, s.axis, s.inner, x.data(), lse.data(), dlse.data(),
                        dx.data());
  CHECK(largest_error(dx, want_dx) <= 3 * tolerance<T>);
}

template <class T> bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && same_bytes(a.data(), b.data(), a.size() * sizeof(T));
}

}  // namespace

TEST_CASE("softmax, log_softmax and their gradients follow the definition") {
  for (int64_t const outer : {0, 1, 3})
    for (int64_t const axis : {0, 1, 2, 15, 16, 17, 65, 257})
      for (int64_t const inner : {0, 1, 2, 15, 16, 33}) {
        check<float>({outer, axis, inner});
        check<double>({outer, axis, inner});
        if (axis <= 17) {
          check<bf16>({outer, axis, inner});
          check<f16>({outer, axis, inner});
        }
      }
}

TEST_CASE("a line of -infinity gives zeros, no gradient and no NaN elsewhere") {
  for (int64_t const inner : {1, 3}) {
    shape const s{2, 19, inner};
    auto x = values<double>(s.count(), 5);
    for_lines(s, [&](int64_t l, std::vector<int64_t> const& line) {
      for (auto const p : line)
        if (l == 1) x[p] = -infinity;
    });
    std::vector<double> y(x.size()), log_y(x.size()), dx(x.size());
    std::vector<double> const dy(x.size(), 2.0);
    k::softmax(dtype::f64, 2, 19, inner, x.data(), y.data());
    k::log_softmax(dtype::f64, 2, 19, inner, x.data(), log_y.data());
    auto const gradients_vanish = [&] {
      for_lines(s, [&](int64_t l, std::vector<int64_t> const& line) {
        for (auto const p : line) CHECK((l == 1 ? dx[p] == 0.0 : std::isfinite(dx[p])));
      });
    };
    for_lines(s, [&](int64_t l, std::vector<int64_t> const& line) {
      double total = 0;
      for (auto const p : line) total += y[p];
      CHECK(total == doctest::Approx(l == 1 ? 0.0 : 1.0).epsilon(1e-14));
      CHECK((log_y[line[0]] == -infinity) == (l == 1));
    });
    k::softmax_backward(dtype::f64, 2, 19, inner, y.data(), dy.data(), dx.data());
    gradients_vanish();
    k::log_softmax_backward(dtype::f64, 2, 19, inner, log_y.data(), dy.data(), dx.data());
    gradients_vanish();
    std::vector<double> lse(static_cast<std::size_t>(2 * inner), 1.0);
    lse[1] = -infinity;
    k::logsumexp_backward(dtype::f64, 2, 19, inner, x.data(), lse.data(), dy.data(), dx.data());
    gradients_vanish();
  }
}

TEST_CASE("a NaN stays in its own line") {
  for (int64_t const inner : {1, 20}) {
    shape const s{3, 5, inner};
    auto x = values<float>(s.count(), 9);
    x[0] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> y(x.size());
    k::softmax(dtype::f32, 3, 5, inner, x.data(), y.data());
    for_lines(s, [&](int64_t l, std::vector<int64_t> const& line) {
      for (auto const p : line) CHECK(std::isnan(y[p]) == (l == 0));
    });
  }
}

TEST_CASE("softmax of large inputs neither overflows nor needs a copy") {
  std::vector<float> x{1000.0f, 1000.0f, -1e30f, 999.0f};
  k::softmax(dtype::f32, 1, 4, 1, x.data(), x.data());
  double const total = 2 + std::exp(-1.0);
  CHECK(x[0] == doctest::Approx(1 / total).epsilon(1e-6));
  CHECK(x[2] == 0.0f);
  CHECK(x[3] == doctest::Approx(std::exp(-1.0) / total).epsilon(1e-6));
  std::vector<bf16> narrow{bf16(3.0f), bf16(3.0f)};
  k::softmax(dtype::bf16, 1, 2, 1, narrow.data(), narrow.data());
  CHECK(static_cast<float>(narrow[0]) == 0.5f);
}

TEST_CASE("gradients agree with central differences") {
  for (shape const s : {shape{2, 7, 1}, shape{2, 5, 3}}) {
    auto x = values<double>(s.count(), 3);
    auto const w = values<double>(s.count(), 17);
    using kernel = std::function<void(double const*, double*)>;
    auto const forward = [&](auto f) {
      return kernel([f, s](double const* in, double* out) {
        f(dtype::f64, s.outer, s.axis, s.inner, in, out);
      });
    };
    auto const compare = [&](kernel const& f, std::vector<double> const& dx) {
      auto const loss = [&] {
        std::vector<double> y(x.size());
        f(x.data(), y.data());
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i) sum += w[i] * y[i];
        return sum;
      };
      for (std::size_t i = 0; i < x.size(); ++i) {
        double const kept = x[i];
        x[i] = kept + 1e-5;
        double const up = loss();
        x[i] = kept - 1e-5;
        double const down = loss();
        x[i] = kept;
        CHECK(std::abs((up - down) / 2e-5 - dx[i]) < 1e-8);
      }
    };
    std::vector<double> y(x.size()), dx(x.size());
    k::softmax(dtype::f64, s.outer, s.axis, s.inner, x.data(), y.data());
    k::softmax_backward(dtype::f64, s.outer, s.axis, s.inner, y.data(), w.data(), dx.data());
    compare(forward(k::softmax), dx);
    k::log_softmax(dtype::f64, s.outer, s.axis, s.inner, x.data(), y.data());
    k::log_softmax_backward(dtype::f64, s.outer, s.axis, s.inner, y.data(), w.data(), dx.data());
    compare(forward(k::log_softmax), dx);
  }
}

TEST_CASE("softmax gives the same bits at 1, 2 and 3 threads") {
  int const before = k::threads();
  for (shape const s : {shape{2000, 65, 1}, shape{3, 100, 200}}) {
    auto const x = values<float>(s.count(), 1);
    std::vector<float> one(x.size()), many(x.size());
    k::set_threads(1);
    k::softmax(dtype::f32, s.outer, s.axis, s.inner, x.data(), one.data());
    for (int const count : {2, 3}) {
      k::set_threads(count);
      k::softmax(dtype::f32, s.outer, s.axis, s.inner, x.data(), many.data());
      CHECK(same_bits(one, many));
    }
  }
  k::set_threads(before);
}

TEST_CASE("softmax refuses what it cannot compute") {
  float x = 0;
  CHECK_THROWS_AS(k::softmax(dtype::i32, 1, 1, 1, &x, &x), ricci::value_error);
  CHECK_THROWS_AS(k::softmax(dtype::f32, -1, 1, 1, &x, &x), ricci::shape_error);
  int64_t const huge = int64_t{1} << 40;
  CHECK_THROWS_AS(k::log_softmax(dtype::f32, huge, huge, 1, &x, &x), ricci::shape_error);
}
