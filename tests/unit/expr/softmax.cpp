// softmax, log_softmax, cumsum: any axis, masked rows, narrow dtypes, views.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Row : axis<"row"> {};
struct Key : axis<"key"> {};
struct Col : axis<"col"> {};

doubles softmax_of(doubles const& x) {
  double top = -infinity;
  for (double const v : x) top = std::max(top, v);
  double total = 0;
  for (double const v : x) total += std::exp(v - top);
  doubles y;
  for (double const v : x) y.push_back(std::exp(v - top) / total);
  return y;
}

}  // namespace

TEST_CASE("softmax along each axis") {
  tensor x = random::normal<f64, Row, Key, Col>(random::key(1), Row{3}, Key{17}, Col{5});
  tensor y = softmax<Key>(x);
  static_assert(same<decltype(y), tensor<f64, Row, Key, Col>>);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 5; ++c) {
      auto const expected = softmax_of(numbers(at<Col>(at<Row>(x, r), c)));
      for (int k = 0; k < 17; ++k)
        CHECK(y(Row{r}, Key{k}, Col{c}) ==
              doctest::Approx(expected[static_cast<std::size_t>(k)]).epsilon(1e-13));
    }
  CHECK(numbers(softmax<Row>(permute<Key, Col, Row>(x)))[0] ==
        doctest::Approx(numbers(softmax<Row>(x))[0]));
  auto const logs = numbers(log_softmax<Key>(x));
  auto const plain = numbers(y);
  for (std::size_t i = 0; i < plain.size(); ++i)
    CHECK(logs[i] == doctest::Approx(std::log(plain[i])));
}

TEST_CASE("large logits, masked places, masked rows") {
  tensor x = from<f32, Row, Key>(
      {1000, 1001, -infinity, -infinity, -infinity, -infinity, -1e30f, 0, 1e30f}, Row{3}, Key{3});
  auto const y = numbers(softmax<Key>(x));
  CHECK(y[0] == doctest::Approx(1 / (1 + std::exp(1.0))));
  CHECK(y[2] == 0);
  CHECK(doubles(y.begin() + 3, y.end()) == doubles{0, 0, 0, 0, 0, 1});
  auto const l = numbers(log_softmax<Key>(x));
  CHECK(l[1] == doctest::Approx(-std::log(1 + std::exp(-1.0))));
  CHECK(l[2] == -infinity);
  CHECK(std::isnan(numbers(softmax<Key>(from<f32, Key>({not_a_number, 1}, Key{2})))[1]));
}

TEST_CASE_TEMPLATE("narrow floats compute in f32", T, f16, bf16, f8_e4m3, f8_e5m2) {
  tensor x = to<T>(from<f32, Key>({1, 2, 3, 4}, Key{4}));
  tensor y = softmax<Key>(x);
  static_assert(same<decltype(y), tensor<T, Key>>);
  CHECK(numbers(y) == numbers(to<T>(softmax<Key>(to<f32>(x)))));
}

TEST_CASE("extents 0 and 1, rank 1, of expressions") {
  CHECK(numbers(softmax<Key>(full<f32, Row, Key>(5, Row{2}, Key{1}))) == doubles{1, 1});
  CHECK(numbers(softmax<Key>(zeros<f32, Row, Key>(Row{2}, Key{0}))).empty());
  CHECK(numbers(softmax<Key>(zeros<f32, Row, Key>(Row{0}, Key{3}))).empty());
  CHECK(numbers(softmax<Key>(iota<f32, Key>(Key{2}) * 0)) == doubles{0.5, 0.5});
  CHECK(numbers(log_softmax<Key>(zeros<f64, Key>(Key{1})))[0] == 0);
}

TEST_CASE("cumsum") {
  tensor x = from<f64, Row, Key>({1, 2, 3, 4, 5, 6}, Row{2}, Key{3});
  static_assert(same<decltype(tensor(cumsum<Key>(x))), tensor<f64, Row, Key>>);
  CHECK(numbers(cumsum<Key>(x)) == doubles{1, 3, 6, 4, 9, 15});
  CHECK(numbers(cumsum<Row>(x)) == doubles{1, 2, 3, 5, 7, 9});
  CHECK(numbers(cumsum<Key>(reverse<Key>(x))) == doubles{3, 5, 6, 6, 11, 15});
  static_assert(same<decltype(tensor(cumsum<Key>(zeros<i8, Key>(Key{1})))), tensor<i64, Key>>);
  CHECK(numbers(cumsum<Key>(full<i8, Key>(100, Key{3}))) == doubles{100, 200, 300});
  CHECK(numbers(cumsum<Key>(from<boolean, Key>({true, false, true}, Key{3}))) == doubles{1, 1, 2});
  // f32 accumulators: 300 ones in bf16 pass 256.
  CHECK(numbers(cumsum<Key>(ones<bf16, Key>(Key{300})))[299] == 300);
  CHECK(numbers(cumsum<Key>(zeros<f32, Row, Key>(Row{2}, Key{0}))).empty());
}
