// Gradients in narrow dtypes: of the parameter's dtype, close to those in f64; mixed through to<>.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Row : axis<"row"> {};
struct Col : axis<"col"> {};
struct Out : axis<"out"> {};
struct Key : axis<"key"> {};
struct I : axis<"i"> {};

auto input() { return random::uniform<f64, Row, Col>(random::key(1), Row{6}, Col{8}) - 0.4; }

/// The gradient of sum(f(x)) in T and in f64, both at x rounded to T.
template <class T, class F> void check(char const* what, F const& f, double tolerance) {
  tensor const x = to<T>(input());
  auto const narrow = numbers(grad([&](auto const& v) { return sum(f(v)); }, x));
  auto const wide = numbers(grad([&](auto const& v) { return sum(f(v)); }, tensor(to<f64>(x))));
  static_assert(
      same<decltype(grad([&](auto const& v) { return sum(f(v)); }, x)), tensor<T, Row, Col>>);
  double scale = 1e-3;
  for (double const g : wide) scale = std::max(scale, std::abs(g));
  for (std::size_t i = 0; i < wide.size(); ++i) {
    INFO(std::string(what), " element ", i, ": ", narrow[i], " instead of ", wide[i]);
    CHECK(std::abs(narrow[i] - wide[i]) <= tolerance * scale);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("close to those in f64", T, f32, bf16, f16) {
  double const tolerance = same<T, f32> ? 1e-5 : same<T, f16> ? 0.006 : 0.05;
  auto const like = []<class X>(X const&, auto const& v) {
    return tensor(to<typename X::element_type>(to<T>(v)));
  };
  auto const w = random::uniform<f64, Col, Out>(random::key(2), Col{8}, Out{5}) - 0.4;
  tensor const matrix = w;
  tensor const scale = random::uniform<f64, Col>(random::key(3), Col{8});
  tensor const targets = from<i32, Row>({0, 7, 3, 2, 2, 5}, Row{6});
  check<T>("square", [](auto const& x) { return square(x); }, tolerance);
  check<T>("gelu", [](auto const& x) { return gelu(x * 2) + exp(x); }, tolerance);
  check<T>("divide", [](auto const& x) { return x / (square(x) + 1); }, tolerance);
  check<T>(
      "einsum",
      [&](auto const& x) {
        return square(einsum<"row col, col out -> row out">(x, like(x, matrix)));
      },
      tolerance);
  check<T>(
      "einsum with a bias",
      [&](auto const& x) {
        return gelu(einsum<"row col, col out -> row out">(x, like(x, matrix)) +
                    at<Col>(like(x, matrix), 0));
      },
      tolerance);
  check<T>("softmax", [](auto const& x) { return square(softmax<Col>(x * 3)); }, tolerance);
  check<T>("log_softmax", [](auto const& x) { return square(log_softmax<Col>(x)); }, tolerance);
  check<T>("logsumexp", [](auto const& x) { return logsumexp<Row>(x); }, tolerance);
  check<T>("mean", [](auto const& x) { return square(mean<Row>(x)); }, tolerance);
  check<T>("max", [](auto const& x) { return square(max<Col>(x)); }, tolerance);
  check<T>("cumsum", [](auto const& x) { return square(cumsum<Col>(x)); }, tolerance);
  check<T>(
      "layer_norm",
      [&](auto const& x) { return square(layer_norm<Col>(x, like(x, scale), like(x, scale))); },
      tolerance);
  check<T>(
      "rms_norm", [&](auto const& x) { return square(rms_norm<Col>(x, like(x, scale))); },
      tolerance);
  check<T>(
      "cross_entropy", [&](auto const& x) { return cross_entropy<Col>(x, targets); }, tolerance);
  check<T>(
      "take", [](auto const& x) { return square(take<Row>(x, from<i64, I>({1, 1, 5, 1}, I{4}))); },
      tolerance);
  check<T>(
      "views",
      [](auto const& x) { return reverse<Row>(slice<Col>(x, 1, 3, 2)) * slice<Col>(x, 0, 3); },
      tolerance);
  check<T>("concat", [](auto const& x) { return square(concat<Row>(x, x * 2)); }, tolerance);
  check<T>(
      "attention",
      [](auto const& x) {
        return square(
            attention<Row, Key, Col>(x, rename<Row, Key>(x), rename<Row, Key>(x), mask::causal));
      },
      tolerance);
}

TEST_CASE_TEMPLATE("8-bit floats have gradients too", T, f8_e4m3, f8_e5m2) {
  check<T>("square", [](auto const& x) { return square(x); }, 0.15);
  check<T>("softmax", [](auto const& x) { return square(softmax<Col>(x)); }, 0.3);
  check<T>("sum of rows", [](auto const& x) { return square(sum<Row>(x)); }, 0.3);
}

TEST_CASE("mixed precision: the gradient comes back in the parameter's dtype") {
  tensor const w = to<f32>(input());
  auto const g = grad([](auto const& v) { return to<f32>(sum(square(to<bf16>(v)))); }, w);
  static_assert(same<decltype(g), tensor<f32, Row, Col> const>);
  auto const values = numbers(w);
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(numbers(g)[i] == doctest::Approx(2 * values[i]).epsilon(0.01));
}

TEST_CASE("no gradient goes through integers, comparisons and what is stopped") {
  tensor const x = to<f32>(input());
  CHECK(numbers(grad([](auto const& v) { return sum(to<f32>(to<i32>(v * 10))); }, x)) ==
        doubles(48));
  CHECK(numbers(grad([](auto const& v) { return sum(to<f32>(v > 0)); }, x)) == doubles(48));
  CHECK(numbers(grad([](auto const& v) { return sum(stop_gradient(v * 2) + 0 * v); }, x)) ==
        doubles(48));
  CHECK(numbers(grad([](auto const& v) { return sum(where(v > 0, v, 0)); }, x)) ==
        numbers(to<f32>(x > 0)));
}
