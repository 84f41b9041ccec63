// Views: places, axes, storage; what is outside throws; a view of a view; views and the gradient's
// tape.
#include "tests/unit/expr/values.hpp"

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Row : axis<"row"> {};
struct Col : axis<"col"> {};
struct Key : axis<"key"> {};
struct Seq : axis<"seq"> {};
struct Fixed : axis<"fixed", 6> {};
struct Window : axis<"window", 3> {};
struct Diag : axis<"diag"> {};
struct Diag3 : axis<"diag3", 3> {};
struct Other6 : axis<"other", 6> {};
struct N : axis<"n"> {};

auto matrix() { return counting<f64, Row, Col>(Row{3}, Col{4}); }

}  // namespace

TEST_CASE("permute") {
  tensor x = matrix();
  auto v = permute<Col, Row>(x);
  static_assert(decltype(v)::is_view);
  static_assert(same<decltype(tensor(v)), tensor<f64, Col, Row>>);
  CHECK(shares(x, v));
  CHECK(v(Col{3}, Row{1}) == x(Row{1}, Col{3}));
  CHECK(numbers(v) == doubles{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(numbers(permute<Row, Col>(v)) == numbers(x));
  CHECK(permute<>(full<f64>(2)).item() == 2);
}

TEST_CASE("rename") {
  tensor x = matrix();
  auto v = rename<Col, Key>(x);
  static_assert(same<decltype(tensor(v)), tensor<f64, Row, Key>>);
  CHECK(shares(x, v));
  tensor six = counting<f64, Seq>(Seq{6});
  auto fixed = rename<Seq, Fixed>(six);
  static_assert(same<decltype(tensor(fixed)), tensor<f64, Fixed>>);
  CHECK(has(sentence([&] { (void)rename<Seq, Fixed>(counting<f64, Seq>(Seq{5})); }),
            {"rename", "`seq`", "5", "`fixed`", "6", "[seq 5]"}));
  CHECK(numbers(rename<Row, Row>(x)) == numbers(x));
}

TEST_CASE("at: a number of any integer type, or a place of the axis") {
  tensor x = matrix();
  auto v = at<Row>(x, 1);
  static_assert(same<decltype(tensor(v)), tensor<f64, Col>>);
  CHECK(graph::data(v.handle()) == x.values().data() + 4);
  CHECK(numbers(v) == doubles{4, 5, 6, 7});
  CHECK(numbers(at<Col>(x, std::size_t{2})) == doubles{2, 6, 10});
  CHECK(numbers(at(x, Col{2})) == doubles{2, 6, 10});
  CHECK(numbers(at<Col>(x, Col{2})) == doubles{2, 6, 10});
  CHECK(at<Col>(at<Row>(x, 2), 3).item() == 11);
  CHECK(has(sentence<index_error>([&] { (void)at<Row>(x, 3); }),
            {"at", "3", "`row`", "[row 3, col 4]"}));
  CHECK(has(sentence<index_error>([&] { (void)at<Row>(x, -1); }), {"at", "-1", "`row`"}));
}

TEST_CASE("slice: begin, count, step; a static axis into another one") {
  tensor x = matrix();
  auto v = slice<Col>(x, 1, 2);
  static_assert(decltype(v)::is_view);
  static_assert(same<decltype(tensor(v)), tensor<f64, Row, Col>>);
  CHECK(numbers(v) == doubles{1, 2, 5, 6, 9, 10});
  CHECK(numbers(slice<Col>(x, 0, 2, 3)) == doubles{0, 3, 4, 7, 8, 11});
  CHECK(numbers(slice<Row>(x, 2, 1, 100)) == doubles{8, 9, 10, 11});
  CHECK(slice<Col>(x, 4, 0).shape() == shape<Row, Col>{{3, 0}});
  tensor f = counting<f64, Fixed>();
  auto w = slice<Fixed, Window>(f, 2);
  static_assert(same<decltype(tensor(w)), tensor<f64, Window>>);
  CHECK(numbers(w) == doubles{2, 3, 4});
  CHECK(numbers(slice<Fixed, N>(f, 1, 4)) == doubles{1, 2, 3, 4});
  CHECK(numbers(slice<Fixed, N>(f, 1, 2, 4)) == doubles{1, 5});
  CHECK(numbers(slice<Fixed, Window>(f, 0, 3, 2)) == doubles{0, 2, 4});
  CHECK(numbers(slice<Col, Window>(x, 1)) == doubles{1, 2, 3, 5, 6, 7, 9, 10, 11});
  for (auto const& said : {sentence<index_error>([&] { (void)slice<Col>(x, 3, 2); }),
                           sentence<index_error>([&] { (void)slice<Col>(x, -1, 2); }),
                           sentence<index_error>([&] { (void)slice<Col>(x, 0, 5); }),
                           sentence<index_error>([&] { (void)slice<Col>(x, 0, 3, 2); }),
                           sentence<index_error>([&] { (void)slice<Col>(x, 0, -1); }),
                           sentence<index_error>([&] { (void)slice<Col>(x, 5, 0); })})
    CHECK(has(said, {"slice", "`col`", "[row 3, col 4]"}));
  CHECK(has(sentence<index_error>([&] { (void)slice<Fixed, Window>(f, 4); }),
            {"slice", "`fixed`", "6"}));
  CHECK(
      has(sentence([&] { (void)slice<Fixed, Window>(f, 0, 2); }), {"slice", "2", "`window`", "3"}));
  std::int64_t const huge = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_AS((void)slice<Col>(x, huge, huge), index_error);
  CHECK_THROWS_AS((void)slice<Col>(x, 1, 2, huge), index_error);
  CHECK_THROWS_AS((void)slice<Col>(x, 0, 2, 0), error);
  CHECK_THROWS_AS((void)slice<Col>(x, 0, 2, -1), error);
}

TEST_CASE("reverse") {
  tensor x = matrix();
  auto v = reverse<Col>(x);
  static_assert(same<decltype(tensor(v)), tensor<f64, Row, Col>>);
  CHECK(numbers(v) == doubles{3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8});
  CHECK(shares(reverse<Col>(v), x));
  CHECK(numbers(reverse<Row>(zeros<f64, Row>(Row{0}))).empty());
}

TEST_CASE("diagonal stands at Row's place") {
  tensor x = counting<f64, Row, N, Col>(Row{3}, N{2}, Col{3});
  auto v = diagonal<Row, Col, Diag>(x);
  static_assert(same<decltype(tensor(v)), tensor<f64, Diag, N>>);
  CHECK(numbers(v) == doubles{0, 3, 7, 10, 14, 17});
  auto w = diagonal<Col, Row, Diag>(x);
  static_assert(same<decltype(tensor(w)), tensor<f64, N, Diag>>);
  CHECK(numbers(w) == doubles{0, 7, 14, 3, 10, 17});
  auto fixed = diagonal<Row, Col, Diag3>(x);
  static_assert(same<decltype(tensor(fixed)), tensor<f64, Diag3, N>>);
  CHECK(numbers(diagonal<Row, Col, Row>(x)) == numbers(v));
  CHECK(has(sentence([&] { (void)diagonal<Row, Col, Diag>(matrix()); }),
            {"diagonal", "`row`", "3", "`col`", "4", "[row 3, col 4]"}));
  CHECK(has(
      sentence([&] { (void)diagonal<Row, Col, Diag3>(counting<f64, Row, Col>(Row{4}, Col{4})); }),
      {"diagonal", "`diag3`", "3", "4"}));
}

TEST_CASE("views of views, and their values") {
  tensor x = counting<f64, Row, Col>(Row{4}, Col{6});
  auto v = reverse<Row>(slice<Col>(permute<Col, Row>(slice<Row>(x, 1, 2, 2)), 1, 2, 3));
  CHECK(v.shape() == shape<Col, Row>{{2, 2}});
  CHECK(numbers(v) == doubles{19, 7, 22, 10});
  CHECK(v(Row{0}, Col{1}) == 22);
  tensor copied = v;
  CHECK(numbers(copied) == numbers(v));
  CHECK(!shares(copied, v));
  CHECK(numbers(v + v) == doubles{38, 14, 44, 20});
}

TEST_CASE("a view outlives its tensor") {
  auto const make = [] {
    tensor x = matrix();
    return at<Row>(x, 2);
  };
  auto v = make();
  CHECK(numbers(v) == doubles{8, 9, 10, 11});
  auto const expression = [] {
    tensor x = matrix();
    return slice<Col>(x + 1, 1, 2);
  };
  CHECK(numbers(expression()) == doubles{2, 3, 6, 7, 10, 11});
}

TEST_CASE("views copy nothing, whatever their number") {
  tensor x = counting<f64, Row, Col>(Row{100}, Col{100});
  tally const ran;
  for (int i = 0; i < 100; ++i) {
    auto v = reverse<Row>(slice<Row>(permute<Col, Row>(x), 1, 50, 2));
    CHECK(v(Row{0}, Col{i}) == (1 + 2 * 49) * 100 + i);
  }
  CHECK(ran.passes() == 0);
}

TEST_CASE("views of a lazily created tensor, and of one that a view type meets again") {
  tensor z = full<f64, Row, Col>(2.5, Row{2}, Col{2});
  CHECK(numbers(permute<Col, Row>(z)) == doubles{2.5, 2.5, 2.5, 2.5});
  CHECK(at<Row>(at<Col>(z, 1), 1).item() == 2.5);
  CHECK(numbers(reverse<Row>(slice<Col>(zeros<i32, Row, Col>(Row{1}, Col{3}), 1, 2))) ==
        doubles{0, 0});
}
