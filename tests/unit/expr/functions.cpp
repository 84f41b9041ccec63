// Elementwise functions against <cmath>, on every floating dtype, views, long and short rows.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct N : axis<"n"> {};
struct M : axis<"m"> {};

/// Relative distance that a result may have: a few units in the last place of the dtype.
template <class T> double tolerance() {
  if constexpr (same<T, f64>) return 1e-14;
  if constexpr (same<T, f32>) return 4e-7;
  if constexpr (same<T, f16>) return 1.0 / 1024;
  if constexpr (same<T, bf16>) return 1.0 / 128;
  return same<T, f8_e4m3> ? 1.0 / 8 : 1.0 / 4;
}

template <class T, class F, class G>
void check(char const* name, F const& ours, G const& theirs, doubles const& at) {
  std::vector<T> list;
  for (double const x : at) list.push_back(static_cast<T>(x));
  tensor x = from<T, N>(std::span<T const>(list), N{list.size()});
  auto const inputs = numbers(x);
  auto const got = numbers(ours(x));
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const expected = theirs(inputs[i]);
    INFO(std::string(name), " at ", inputs[i], ": ", got[i], " instead of ", expected);
    if (std::isnan(expected))
      CHECK(std::isnan(got[i]));
    else
      CHECK((got[i] == expected ||
             std::abs(got[i] - expected) <= tolerance<T>() * (std::abs(expected) + 0.05)));
  }
}

double gelu_of(double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }
double gelu_tanh_of(double x) {
  return 0.5 * x *
         (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}
double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

TEST_CASE_TEMPLATE("against <cmath>", T, f64, f32, f16, bf16, f8_e4m3, f8_e5m2) {
  doubles const any{-6, -2.5, -1, -0.5, -0.0, 0, 0.1, 0.25, 0.75, 1, 1.5, 2, 3, 5, 0.3, -0.7, 4};
  doubles const positive{0.0625, 0.1, 0.5, 1, 1.5, 2, 4, 8, 20, 100, 3};
  check<T>("exp", [](auto const& x) { return exp(x); }, [](double x) { return std::exp(x); }, any);
  check<T>(
      "log", [](auto const& x) { return log(x); }, [](double x) { return std::log(x); }, positive);
  check<T>(
      "sqrt", [](auto const& x) { return sqrt(x); }, [](double x) { return std::sqrt(x); },
      positive);
  check<T>(
      "rsqrt", [](auto const& x) { return rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); },
      positive);
  check<T>("sin", [](auto const& x) { return sin(x); }, [](double x) { return std::sin(x); }, any);
  check<T>("cos", [](auto const& x) { return cos(x); }, [](double x) { return std::cos(x); }, any);
  check<T>(
      "tanh", [](auto const& x) { return tanh(x); }, [](double x) { return std::tanh(x); }, any);
  check<T>("sigmoid", [](auto const& x) { return sigmoid(x); }, sigmoid_of, any);
  check<T>("erf", [](auto const& x) { return erf(x); }, [](double x) { return std::erf(x); }, any);
  check<T>(
      "relu", [](auto const& x) { return relu(x); }, [](double x) { return x > 0 ? x : 0; }, any);
  check<T>(
      "silu", [](auto const& x) { return silu(x); }, [](double x) { return x * sigmoid_of(x); },
      any);
  check<T>("gelu", [](auto const& x) { return gelu(x); }, gelu_of, any);
  check<T>("gelu_tanh", [](auto const& x) { return gelu_tanh(x); }, gelu_tanh_of, any);
  check<T>("abs", [](auto const& x) { return abs(x); }, [](double x) { return std::abs(x); }, any);
  check<T>(
      "sign", [](auto const& x) { return sign(x); },
      [](double x) { return x > 0   ? 1
                            : x < 0 ? -1
                                    : 0; }, any);
  check<T>("square", [](auto const& x) { return square(x); }, [](double x) { return x * x; }, any);
  check<T>(
      "reciprocal", [](auto const& x) { return reciprocal(x); }, [](double x) { return 1 / x; },
      positive);
  check<T>(
      "pow 3", [](auto const& x) { return pow(x, 3); }, [](double x) { return x * x * x; }, any);
  check<T>(
      "pow 0.5", [](auto const& x) { return pow(x, 0.5); }, [](double x) { return std::sqrt(x); },
      positive);
  check<T>(
      "2 to the", [](auto const& x) { return pow(2, x); }, [](double x) { return std::exp2(x); },
      any);
  check<T>(
      "clamp", [](auto const& x) { return clamp(x, -0.5, 2); },
      [](double x) { return x < -0.5 ? -0.5
                            : x > 2  ? 2
                                     : x; }, any);
  check<T>(
      "minimum", [](auto const& x) { return minimum(x, 1); },
      [](double x) { return std::min(x, 1.0); }, any);
  check<T>(
      "maximum", [](auto const& x) { return maximum(x, 1); },
      [](double x) { return std::max(x, 1.0); }, any);
}

TEST_CASE_TEMPLATE("at the ends of the range", T, f64, f32) {
  double const inf = infinity;
  double const none = not_a_number;
  doubles const ends{-inf, inf, none, -1000, 1000, -1e30, 1e30};
  check<T>(
      "exp", [](auto const& x) { return exp(x); },
      [](double x) { return std::exp(static_cast<T>(x)); }, ends);
  check<T>(
      "tanh", [](auto const& x) { return tanh(x); }, [](double x) { return std::tanh(x); }, ends);
  check<T>("sigmoid", [](auto const& x) { return sigmoid(x); }, sigmoid_of, ends);
  check<T>("erf", [](auto const& x) { return erf(x); }, [](double x) { return std::erf(x); }, ends);
  check<T>(
      "relu", [](auto const& x) { return relu(x); },
      [](double x) { return std::isnan(x) ? x
                            : x > 0       ? x
                                          : 0; }, ends);
  check<T>(
      "log", [](auto const& x) { return log(x); }, [](double x) { return std::log(x); },
      {0, -1, inf, none, 1e-40});
  check<T>(
      "sqrt", [](auto const& x) { return sqrt(x); }, [](double x) { return std::sqrt(x); },
      {0, -1, inf, none});
  check<T>(
      "gelu of large", [](auto const& x) { return gelu(x); },
      [](double x) { return x > 0 ? x : 0; }, {100, -100, 40, 1e30});
  check<T>(
      "gelu_tanh of large", [](auto const& x) { return gelu_tanh(x); },
      [](double x) { return x > 0 ? x : 0; }, {100, -100, 40});
  check<T>(
      "silu of large", [](auto const& x) { return silu(x); },
      [](double x) { return x > 0 ? x : 0; }, {200, -200});
  check<T>(
      "pow", [](auto const& x) { return pow(x, 2); }, [](double x) { return std::pow(x, 2); },
      {-3, -inf, inf, 0, none});
  check<T>(
      "pow 0", [](auto const& x) { return pow(x, 0); }, [](double) { return 1; },
      {-3, 0, inf, none});
  check<T>(
      "pow of a negative", [](auto const& x) { return pow(x, 0.5); },
      [](double x) { return std::pow(x, 0.5); }, {-3, -1});
}

TEST_CASE("integers: what is defined on them") {
  tensor i = from<i32, N>({-3, 0, 4}, N{3});
  CHECK(numbers(abs(i)) == doubles{3, 0, 4});
  CHECK(numbers(sign(i)) == doubles{-1, 0, 1});
  CHECK(numbers(square(i)) == doubles{9, 0, 16});
  CHECK(numbers(relu(i)) == doubles{0, 0, 4});
  CHECK(numbers(pow(i, 3)) == doubles{-27, 0, 64});
  CHECK(numbers(clamp(i, -1, 1)) == doubles{-1, 0, 1});
  CHECK(numbers(sign(from<u8, N>({0, 200}, N{2}))) == doubles{0, 1});
}

TEST_CASE("every length beside the vector width, and views") {
  for (int n : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 65, 127, 1023, 1025}) {
    tensor x = random::normal<f32, N>(random::key(static_cast<std::uint64_t>(n)), N{n});
    auto const in = numbers(x);
    auto const out = numbers(gelu(x));
    bool all_near = true;
    for (std::size_t i = 0; i < in.size(); ++i)
      all_near = all_near && std::abs(out[i] - gelu_of(in[i])) < 2e-6;
    CHECK(all_near);
  }
  tensor x = random::normal<f32, M, N>(random::key(3), M{13}, N{29});
  CHECK(numbers(exp(permute<N, M>(x))) == numbers(permute<N, M>(tensor(exp(x)))));
  CHECK(numbers(exp(reverse<N>(x))) == numbers(reverse<N>(tensor(exp(x)))));
  CHECK(numbers(exp(slice<N>(x, 3, 5, 2))) == numbers(slice<N>(tensor(exp(x)), 3, 5, 2)));
  // The same place has the same bits, whatever the length and the thread.
  CHECK(list(exp(slice<N>(x, 1, 1))) == list(slice<N>(tensor(exp(x)), 1, 1)));
}

TEST_CASE("a statement of several functions is one loop") {
  tensor x = random::normal<f32, M, N>(random::key(3), M{5}, N{7});
  tensor b = random::normal<f32, N>(random::key(4), N{7});
  (void)x.values();
  tally const ran;
  tensor y = gelu(x * 2 + b) / (1 + square(x)) - sigmoid(x);
  CHECK(ran.loops() == 1);
  CHECK(ran.passes() == 1);
  for (int m = 0; m < 5; ++m)
    for (int n = 0; n < 7; ++n) {
      double const v = x(M{m}, N{n});
      double const c = b(N{n});
      CHECK(y(M{m}, N{n}) ==
            doctest::Approx(gelu_of(v * 2 + c) / (1 + v * v) - sigmoid_of(v)).epsilon(1e-5));
    }
}
