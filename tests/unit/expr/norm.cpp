// layer_norm and rms_norm against their formulas: any axis, dtypes, small variance, extents.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Row : axis<"row"> {};
struct Col : axis<"col"> {};
struct Width : axis<"width"> {};

doubles layer_norm_of(doubles const& x, doubles const& scale, doubles const& bias, double epsilon) {
  auto const n = static_cast<double>(x.size());
  double mean = 0;
  double variance = 0;
  for (double const v : x) mean += v / n;
  for (double const v : x) variance += (v - mean) * (v - mean) / n;
  doubles y;
  for (std::size_t i = 0; i < x.size(); ++i)
    y.push_back((x[i] - mean) / std::sqrt(variance + epsilon) * scale[i] + bias[i]);
  return y;
}

}  // namespace

TEST_CASE("layer_norm along the last axis and another one") {
  tensor x = random::normal<f64, Row, Width, Col>(random::key(1), Row{3}, Width{19}, Col{2});
  tensor scale = random::normal<f64, Width>(random::key(2), Width{19});
  tensor bias = random::normal<f64, Width>(random::key(3), Width{19});
  tensor y = layer_norm<Width>(x, scale, bias, 1e-5);
  static_assert(same<decltype(y), tensor<f64, Row, Width, Col>>);
  tensor z = layer_norm<Width>(permute<Row, Col, Width>(x), scale, bias, 1e-5);
  static_assert(same<decltype(z), tensor<f64, Row, Col, Width>>);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 2; ++c) {
      auto const expected =
          layer_norm_of(numbers(at<Col>(at<Row>(x, r), c)), numbers(scale), numbers(bias), 1e-5);
      for (int w = 0; w < 19; ++w) {
        CHECK(y(Row{r}, Width{w}, Col{c}) ==
              doctest::Approx(expected[static_cast<std::size_t>(w)]));
        CHECK(z(Row{r}, Col{c}, Width{w}) ==
              doctest::Approx(expected[static_cast<std::size_t>(w)]));
      }
    }
}

TEST_CASE("rms_norm") {
  tensor x = random::normal<f64, Row, Width>(random::key(1), Row{2}, Width{33});
  tensor scale = random::normal<f64, Width>(random::key(2), Width{33});
  tensor y = rms_norm<Width>(x, scale, 1e-6);
  static_assert(same<decltype(y), tensor<f64, Row, Width>>);
  for (int r = 0; r < 2; ++r) {
    double squares = 0;
    for (int w = 0; w < 33; ++w) squares += x(Row{r}, Width{w}) * x(Row{r}, Width{w}) / 33;
    for (int w = 0; w < 33; ++w)
      CHECK(y(Row{r}, Width{w}) ==
            doctest::Approx(x(Row{r}, Width{w}) / std::sqrt(squares + 1e-6) * scale(Width{w})));
  }
}

TEST_CASE("a large mean does not swallow the variance") {
  tensor x = from<f32, Width>({10000, 10001, 10002, 10003}, Width{4});
  auto const y =
      numbers(layer_norm<Width>(x, ones<f32, Width>(Width{4}), zeros<f32, Width>(Width{4})));
  CHECK(y[0] == doctest::Approx(-1.341635).epsilon(1e-4));
  CHECK(y[3] == doctest::Approx(1.341635).epsilon(1e-4));
}

TEST_CASE("constant rows, one element, nothing; narrow floats") {
  CHECK(numbers(layer_norm<Width>(full<f32, Width>(7, Width{3}), ones<f32, Width>(Width{3}),
                                  full<f32, Width>(2, Width{3}))) == doubles{2, 2, 2});
  CHECK(numbers(layer_norm<Width>(full<f32, Row, Width>(7, Row{2}, Width{1}),
                                  ones<f32, Width>(Width{1}), zeros<f32, Width>(Width{1}))) ==
        doubles{0, 0});
  CHECK(numbers(layer_norm<Width>(zeros<f32, Row, Width>(Row{0}, Width{4}),
                                  ones<f32, Width>(Width{4}), zeros<f32, Width>(Width{4})))
            .empty());
  CHECK(
      numbers(rms_norm<Width>(zeros<f32, Row, Width>(Row{2}, Width{0}), ones<f32, Width>(Width{0})))
          .empty());
  tensor x = to<bf16>(random::normal<f32, Row, Width>(random::key(8), Row{3}, Width{40}));
  tensor one = ones<bf16, Width>(Width{40});
  tensor none = zeros<bf16, Width>(Width{40});
  tensor y = layer_norm<Width>(x, one, none);
  static_assert(same<decltype(y), tensor<bf16, Row, Width>>);
  CHECK(numbers(y) ==
        numbers(to<bf16>(layer_norm<Width>(to<f32>(x), to<f32>(one), to<f32>(none)))));
}

TEST_CASE("parameters of another extent") {
  tensor x = zeros<f32, Row, Width>(Row{2}, Width{4});
  CHECK(has(sentence([&] {
              (void)layer_norm<Width>(x, ones<f32, Width>(Width{5}), zeros<f32, Width>(Width{4}));
            }),
            {"layer_norm", "`width`", "4", "5", "operand 1", "operand 2", "[row 2, width 4]",
             "[width 5]"}));
  CHECK(has(sentence([&] {
              (void)layer_norm<Width>(x, ones<f32, Width>(Width{4}), zeros<f32, Width>(Width{3}));
            }),
            {"layer_norm", "`width`", "operand 3", "[width 3]"}));
  CHECK(has(sentence([&] { (void)rms_norm<Width>(x, ones<f32, Width>(Width{1})); }),
            {"rms_norm", "`width`", "4", "1"}));
}
