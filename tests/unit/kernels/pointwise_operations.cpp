#include "kernels/pointwise/pointwise.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/dtype.hpp>

#include "kernels/parallel/parallel.hpp"

namespace k = ricci::kernels;
using namespace ricci;
using source = k::pointwise_value;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

using extents_list = std::vector<std::int64_t>;

/// One operation on flat operands; an operand of one element is broadcast.
template <class Out, class T, class... Sources>
std::vector<Out> apply(opcode op, std::int64_t n, Sources const&... sources) {
  std::int64_t const one = 1, zero = 0;
  std::vector<k::pointwise_operand> operands{
      {sources.data(), dtype_of<std::conditional_t<std::is_same_v<T, bool>, bool, T>>,
       static_cast<std::int64_t>(sources.size()) == n && n > 1 ? &one : &zero}...};
  k::pointwise_instruction instruction{op, dtype_of<T>, 0, {}};
  for (std::size_t s = 0; s < operands.size(); ++s)
    instruction.sources[s] = source::operand(static_cast<int>(s));
  std::vector<Out> out(static_cast<std::size_t>(n));
  k::pointwise_output const output{source::instruction(0), k::result_type(instruction), out.data()};
  k::run({1, &n, operands, {}, {&instruction, 1}, {&output, 1}});
  return out;
}

template <class T> std::vector<T> ramp(std::int64_t n, double from, double to) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    values[static_cast<std::size_t>(i)] =
        static_cast<T>(from + (to - from) * static_cast<double>(i) / static_cast<double>(n));
  return values;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu(double x) { return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); }
double gelu_erf(double x) { return x * 0.5 * std::erfc(-x / M_SQRT2); }
double slope(double (*f)(double), double x) { return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6; }

struct unary_case {
  opcode op;
  double (*reference)(double);
  double from, to;
};

unary_case const unary_cases[] = {
    {opcode::negate, [](double x) { return -x; }, -3, 3},
    {opcode::absolute, [](double x) { return std::fabs(x); }, -3, 3},
    {opcode::sign, [](double x) { return double((x > 0) - (x < 0)); }, -3, 3},
    {opcode::square, [](double x) { return x * x; }, -3, 3},
    {opcode::reciprocal, [](double x) { return 1 / x; }, 0.1, 3},
    {opcode::sqrt, [](double x) { return std::sqrt(x); }, 0, 9},
    {opcode::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.1, 9},
    {opcode::exp, [](double x) { return std::exp(x); }, -8, 8},
    {opcode::log, [](double x) { return std::log(x); }, 0.01, 50},
    {opcode::sin, [](double x) { return std::sin(x); }, -9, 9},
    {opcode::cos, [](double x) { return std::cos(x); }, -9, 9},
    {opcode::tanh, [](double x) { return std::tanh(x); }, -4, 4},
    {opcode::sigmoid, sigmoid, -9, 9},
    {opcode::erf, [](double x) { return std::erf(x); }, -4, 4},
    {opcode::relu, [](double x) { return std::fmax(x, 0); }, -4, 4},
    {opcode::silu, [](double x) { return x * sigmoid(x); }, -6, 6},
    {opcode::gelu_tanh, gelu, -6, 6},
    {opcode::gelu_erf, gelu_erf, -6, 6},
    {opcode::relu_grad, [](double x) { return double(x > 0); }, -6, 6},
    {opcode::silu_grad, [](double x) { return slope([](double t) { return t * sigmoid(t); }, x); },
     -6, 6},
    {opcode::gelu_tanh_grad, [](double x) { return slope(gelu, x); }, -6, 6},
    {opcode::gelu_erf_grad, [](double x) { return slope(gelu_erf, x); }, -6, 6},
};

struct binary_case {
  opcode op;
  double (*reference)(double, double);
};

binary_case const arithmetic_cases[] = {
    {opcode::add, [](double a, double b) { return a + b; }},
    {opcode::subtract, [](double a, double b) { return a - b; }},
    {opcode::multiply, [](double a, double b) { return a * b; }},
    {opcode::divide, [](double a, double b) { return a / b; }},
    {opcode::power, [](double a, double b) { return std::pow(a, b); }},
    {opcode::minimum, [](double a, double b) { return std::fmin(a, b); }},
    {opcode::maximum, [](double a, double b) { return std::fmax(a, b); }},
};

binary_case const comparison_cases[] = {
    {opcode::less, [](double a, double b) { return double(a < b); }},
    {opcode::less_equal, [](double a, double b) { return double(a <= b); }},
    {opcode::greater, [](double a, double b) { return double(a > b); }},
    {opcode::greater_equal, [](double a, double b) { return double(a >= b); }},
    {opcode::equal, [](double a, double b) { return double(a == b); }},
    {opcode::not_equal, [](double a, double b) { return double(a != b); }},
};

template <class T> void check_unary(double tolerance) {
  for (auto const& c : unary_cases)
    for (std::int64_t const n : {1, 2, 7, 8, 15, 16, 17, 33, 600}) {
      auto const x = ramp<T>(n, c.from, c.to);
      auto const y = apply<T, T>(c.op, n, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        double const expected = c.reference(static_cast<double>(x[i]));
        INFO(name_of(c.op) << "(" << x[i] << ")");
        CHECK(std::fabs(y[i] - expected) <= tolerance * (1 + std::fabs(expected)));
      }
    }
}

template <class T> void check_binary(double tolerance) {
  for (std::int64_t const n : {1, 5, 16, 37, 530})
    for (int scalars = 0; scalars < 4; ++scalars) {
      auto const a = ramp<T>(scalars & 1 ? 1 : n, 0.25, 3),
                 b = ramp<T>(scalars & 2 ? 1 : n, 2, 0.5);
      auto const check = [&](binary_case const& c, auto const& y) {
        for (std::size_t i = 0; i < y.size(); ++i) {
          double const expected = c.reference(static_cast<double>(a[scalars & 1 ? 0 : i]),
                                              static_cast<double>(b[scalars & 2 ? 0 : i]));
          INFO(name_of(c.op) << " scalars " << scalars << " at " << i << " of " << n);
          CHECK(std::fabs(y[i] - expected) <= tolerance * (1 + std::fabs(expected)));
        }
      };
      for (auto const& c : arithmetic_cases) check(c, apply<T, T>(c.op, n, a, b));
      for (auto const& c : comparison_cases) check(c, apply<u8, T>(c.op, n, a, b));
    }
}

template <class T> void check_integers() {
  using limits = std::numeric_limits<T>;
  std::vector<T> const edge{
      limits::min(), T(limits::min() + 1), T(-1),        T(0), T(1), T(2), T(3),
      T(7),          T(limits::max() - 1), limits::max()};
  std::vector<T> a, b;
  for (T const x : edge)
    for (T const y : edge) a.push_back(x), b.push_back(y);
  auto const n = static_cast<std::int64_t>(a.size());
  auto const wrap = [](__int128 x) { return static_cast<T>(x); };
  auto const check = [&](opcode op, auto reference) {
    auto const y = apply<T, T>(op, n, a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
      INFO(name_of(op) << "(" << +a[i] << ", " << +b[i] << ")");
      CHECK(y[i] == wrap(reference(static_cast<__int128>(a[i]), static_cast<__int128>(b[i]))));
    }
  };
  using wide = __int128;
  check(opcode::add, [](wide x, wide y) { return x + y; });
  check(opcode::subtract, [](wide x, wide y) { return x - y; });
  check(opcode::multiply, [](wide x, wide y) { return x * y; });
  check(opcode::divide, [](wide x, wide y) { return y == 0 ? 0 : x / y; });
  check(opcode::minimum, [](wide x, wide y) { return x < y ? x : y; });
  check(opcode::maximum, [](wide x, wide y) { return x < y ? y : x; });
  auto const less = apply<u8, T>(opcode::less, n, a, b);
  auto const negated = apply<T, T>(opcode::negate, n, a);
  auto const magnitude = apply<T, T>(opcode::absolute, n, a);
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(less[i] == (a[i] < b[i]));
    CHECK(negated[i] == wrap(-static_cast<wide>(a[i])));
    CHECK(magnitude[i] == wrap(a[i] < 0 ? -static_cast<wide>(a[i]) : static_cast<wide>(a[i])));
  }
  std::vector<T> const base{2, 3, 1, 0, 5, 2}, exponent{5, 4, 9, 0, 1, 0};
  CHECK(apply<T, T>(opcode::power, 6, base, exponent) == std::vector<T>{32, 81, 1, 1, 5, 1});
  std::vector<T> const x{1, 5, 9}, low{2}, high{7};
  CHECK(apply<T, T>(opcode::clamp, 3, x, low, high) == std::vector<T>{2, 5, 7});
  CHECK(apply<T, T>(opcode::fma, 3, x, low, high) == std::vector<T>{9, 17, 25});
}

}  // namespace

TEST_CASE("unary operations agree with libm in f32 and f64") {
  check_unary<float>(1e-6);
  check_unary<double>(1e-9);  // the slopes of the reference are no better
}

TEST_CASE("binary operations agree with f64, with a scalar on either side or both") {
  check_binary<float>(1e-6);
  check_binary<double>(1e-14);
}

TEST_CASE("integers wrap, and a quotient by zero is 0") {
  check_integers<i8>();
  check_integers<u8>();
  check_integers<i16>();
  check_integers<u16>();
  check_integers<i32>();
  check_integers<i64>();
}

TEST_CASE("NaN propagates and infinities order") {
  std::vector<float> const a{1, not_a_number, not_a_number, -infinity, 2},
      b{not_a_number, 1, not_a_number, 3, infinity};
  for (auto const op : {opcode::minimum, opcode::maximum}) {
    auto const y = apply<float, float>(op, 5, a, b);
    for (int i = 0; i < 3; ++i) CHECK(std::isnan(y[static_cast<std::size_t>(i)]));
    CHECK(y[3] == (op == opcode::minimum ? -infinity : 3));
    CHECK(y[4] == (op == opcode::minimum ? 2 : infinity));
  }
  for (auto const op :
       {opcode::relu, opcode::sign, opcode::exp, opcode::log, opcode::sin, opcode::cos,
        opcode::tanh, opcode::erf, opcode::sigmoid, opcode::gelu_tanh, opcode::silu,
        opcode::gelu_erf, opcode::relu_grad, opcode::sqrt, opcode::rsqrt})
    CHECK(std::isnan(apply<float, float>(op, 2, std::vector<float>{not_a_number, 1})[0]));
  std::vector<float> const low{0}, high{1};
  auto const clamped = apply<float, float>(opcode::clamp, 5, a, low, high);
  CHECK(std::isnan(clamped[1]));
  CHECK(clamped[3] == 0);
  CHECK(clamped[4] == 1);
}
