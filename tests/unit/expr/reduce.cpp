// Reductions by pattern and by axes: values against loops, result types, the user's own, empty
// axes.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Height : axis<"height"> {};
struct Width : axis<"width"> {};
struct H : axis<"h"> {};
struct W : axis<"w"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 4> {};
struct Row : axis<"row"> {};
struct Col : axis<"col"> {};

/// The largest magnitude: associative and commutative.
struct largest_magnitude {
  template <class T> static T identity() { return T(0); }
  template <class T> static T combine(T a, T b) {
    return std::abs(a) > std::abs(b) ? std::abs(a) : std::abs(b);
  }
};
struct bit_or {
  template <class T> static T identity() { return T{0}; }
  template <class T> static T combine(T a, T b) { return static_cast<T>(a | b); }
};

auto table() { return from<f64, Row, Col>({3, -1, 4, 1, -5, 9}, Row{2}, Col{3}); }

}  // namespace

TEST_CASE("pooling: a number in the factors is reduced") {
  tensor image = counting<f32, Batch, Height, Width>(Batch{2}, Height{4}, Width{6});
  tensor y = reduce<op::max, "batch height=(h 2) width=(w 2) -> batch h w", H, W>(image);
  static_assert(same<decltype(y), tensor<f32, Batch, H, W>>);
  CHECK(y.shape() == shape<Batch, H, W>{{2, 2, 3}});
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 2; ++h)
      for (int w = 0; w < 3; ++w)
        CHECK(y(Batch{b}, H{h}, W{w}) == image(Batch{b}, Height{2 * h + 1}, Width{2 * w + 1}));
  tensor s = reduce<op::sum, "... width=(w 3) -> w ...", W>(image);
  static_assert(same<decltype(s), tensor<f32, W, Batch, Height>>);
  CHECK(s(W{1}, Batch{0}, Height{0}) == 3 + 4 + 5);
}

TEST_CASE("every reduction by pattern") {
  tensor x = table();
  CHECK(numbers(reduce<op::sum, "row col -> row">(x)) == doubles{6, 5});
  CHECK(numbers(reduce<op::mean, "row col -> row">(x)) == doubles{2, 5.0 / 3});
  CHECK(numbers(reduce<op::max, "row col -> col">(x)) == doubles{3, -1, 9});
  CHECK(numbers(reduce<op::min, "row col -> col">(x)) == doubles{1, -5, 4});
  CHECK(numbers(reduce<op::prod, "row col -> row">(x)) == doubles{-12, -45});
  CHECK(reduce<op::sum, "row col -> ">(x).item() == 11);
  CHECK(reduce<op::any, "row col -> ">(x > 8).item());
  CHECK(!reduce<op::all, "row col -> ">(x > 8).item());
  CHECK(numbers(reduce<op::logsumexp, "row col -> row">(x))[0] ==
        doctest::Approx(std::log(std::exp(3) + std::exp(-1) + std::exp(4))));
  tensor best = reduce<op::argmax, "row col -> row">(x);
  static_assert(same<decltype(best), tensor<i64, Row>>);
  CHECK(list(best) == std::vector<i64>{2, 2});
  CHECK(list(reduce<op::argmin, "row col -> row">(x)) == std::vector<i64>{1, 1});
  // The result's order is the pattern's, and nothing may be reduced at all.
  CHECK(numbers(reduce<op::sum, "row col -> col row">(x)) == numbers(permute<Col, Row>(x)));
}

TEST_CASE("the user's own reduction") {
  tensor x = table();
  tensor y = reduce<largest_magnitude, "row col -> row">(x);
  static_assert(same<decltype(y), tensor<f64, Row>>);
  CHECK(numbers(y) == doubles{4, 9});
  CHECK(reduce<largest_magnitude, "row col -> ">(to<f32>(x)).item() == 9);
  CHECK(numbers(reduce<bit_or, "row col -> col">(
            from<u8, Row, Col>({1, 2, 4, 8, 16, 4}, Row{2}, Col{3}))) == doubles{9, 18, 4});
  CHECK(numbers(reduce<largest_magnitude, "row col -> row">(
            zeros<f64, Row, Col>(Row{2}, Col{0}))) == doubles{0, 0});
  // Over many elements, a view and an expression.
  tensor many = random::normal<f32, Row, Col>(random::key(4), Row{70}, Col{131});
  double expected = 0;
  for (double const v : numbers(many)) expected = std::max(expected, std::abs(v));
  CHECK(reduce<largest_magnitude, "row col -> ">(many).item() == static_cast<f32>(expected));
  CHECK(reduce<largest_magnitude, "row col -> ">(reverse<Row>(permute<Col, Row>(many))).item() ==
        static_cast<f32>(expected));
  CHECK(reduce<largest_magnitude, "row col -> ">(many * 2).item() ==
        static_cast<f32>(2 * expected));
}

TEST_CASE("short forms: one axis, several, all") {
  tensor x = counting<f64, Batch, Seq, Hidden>(Batch{2}, Seq{3});
  tensor one = sum<Seq>(x);
  static_assert(same<decltype(one), tensor<f64, Batch, Hidden>>);
  CHECK(numbers(one) == doubles{12, 15, 18, 21, 48, 51, 54, 57});
  tensor two = sum<Hidden, Batch>(x);
  static_assert(same<decltype(two), tensor<f64, Seq>>);
  CHECK(numbers(two) == doubles{60, 92, 124});
  tensor all_of_it = sum(x);
  static_assert(same<decltype(all_of_it), tensor<f64>>);
  CHECK(all_of_it.item() == 276);
  CHECK(mean(x).item() == 11.5);
  CHECK(max(x).item() == 23);
  CHECK(min<Batch, Seq, Hidden>(x).item() == 0);
  CHECK(numbers(prod<Batch>(slice<Seq>(x, 0, 1))) == doubles{0, 13, 28, 45});
  CHECK(list(argmax<Seq>(reverse<Seq>(x))) == std::vector<i64>(8, 0));
  CHECK(argmax(x).item() == 23);
  CHECK(list(argmax<Seq, Hidden>(x)) == std::vector<i64>{11, 11});
  CHECK(list(any<Hidden>(x > 20)) == std::vector<bool>{false, false, false, false, false, true});
  CHECK(list(all<Hidden>(x > 19)) == std::vector<bool>{false, false, false, false, false, true});
  CHECK(logsumexp(zeros<f64, Hidden>()).item() == doctest::Approx(std::log(4)));
  // A rank-0 value: nothing to reduce.
  CHECK(sum(full<f64>(3)).item() == 3);
  CHECK(max(full<i32>(3)).item() == 3);
}

TEST_CASE("dtypes: narrow integers sum to i64, positions are i64, extremes keep the dtype") {
  static_assert(same<decltype(tensor(sum(zeros<i8, Hidden>()))), tensor<i64>>);
  static_assert(same<decltype(tensor(prod(zeros<u16, Hidden>()))), tensor<i64>>);
  static_assert(same<decltype(tensor(max(zeros<i16, Hidden>()))), tensor<i16>>);
  static_assert(same<decltype(tensor(sum(zeros<f8_e4m3, Hidden>()))), tensor<f8_e4m3>>);
  static_assert(same<decltype(tensor(argmin<Hidden>(zeros<bf16, Hidden>()))), tensor<i64>>);
  static_assert(same<decltype(tensor(sum(zeros<boolean, Hidden>()))), tensor<i64>>);
  CHECK(sum(from<boolean, Row>({true, false, true}, Row{3})).item() == 2);
  CHECK(prod(full<i32, Row>(100000, Row{3})).item() == 1000000000000000);
  CHECK(min(from<i8, Row>({5, -128, 7}, Row{3})).item() == -128);
  CHECK(max(from<u16, Row>({5, 65535, 7}, Row{3})).item() == 65535);
  CHECK(numbers(sum(to<f64>(ones<f16, Row>(Row{5000})))) == doubles{5000});
  CHECK(numbers(prod(full<f16, Row>(2, Row{10}))) == doubles{1024});
  CHECK(list(max<Row>(from<boolean, Row>({false, true}, Row{2}))) == std::vector<bool>{true});
}

TEST_CASE("nothing to reduce") {
  tensor none = zeros<f64, Row, Col>(Row{2}, Col{0});
  CHECK(numbers(sum<Col>(none)) == doubles{0, 0});
  CHECK(numbers(prod<Col>(none)) == doubles{1, 1});
  CHECK(std::isnan(numbers(mean<Col>(none))[0]));
  CHECK(numbers(logsumexp<Col>(none)) == doubles{-infinity, -infinity});
  CHECK(list(any<Col>(none > 0)) == std::vector<bool>{false, false});
  CHECK(list(all<Col>(none > 0)) == std::vector<bool>{true, true});
  for (auto const& said :
       {sentence([&] { tensor t = max<Col>(none); }), sentence([&] { tensor t = min<Col>(none); }),
        sentence([&] { tensor t = argmax<Col>(none); }),
        sentence([&] { tensor t = argmin<Col>(none); })})
    CHECK(has(said, {"`col`", "0", "[row 2, col 0]"}));
  CHECK(max<Row>(none).shape() == shape<Col>{{0}});
  CHECK(numbers(max<Row>(none)).empty());
}

TEST_CASE("large reductions against f64, beside the vector width and of views") {
  for (int n : {1, 2, 7, 15, 16, 17, 31, 33, 255, 1000}) {
    tensor x =
        random::normal<f32, Row, Col>(random::key(static_cast<std::uint64_t>(n)), Row{5}, Col{n});
    doubles rows(5);
    auto const v = numbers(x);
    for (int r = 0; r < 5; ++r)
      for (int c = 0; c < n; ++c)
        rows[static_cast<std::size_t>(r)] += v[static_cast<std::size_t>(r * n + c)];
    auto const got = numbers(sum<Col>(x));
    auto const turned = numbers(sum<Col>(tensor(permute<Col, Row>(x))));
    auto const viewed = numbers(sum<Col>(reverse<Col>(x)));
    for (std::size_t r = 0; r < 5; ++r) {
      CHECK(got[r] == doctest::Approx(rows[r]).epsilon(1e-4));
      CHECK(turned[r] == doctest::Approx(rows[r]).epsilon(1e-4));
      CHECK(viewed[r] == doctest::Approx(rows[r]).epsilon(1e-4));
    }
  }
}

TEST_CASE("an expression is reduced as it is computed") {
  tensor x = table();
  tally const ran;
  tensor y = sum<Col>(square(x) + 1);
  CHECK(ran.reductions() == 1);
  CHECK(ran.loops() == 0);
  CHECK(numbers(y) == doubles{29, 110});
}
