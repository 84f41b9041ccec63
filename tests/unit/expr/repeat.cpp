// repeat and broadcast: new axes of every kind, extents by value, numbers among the factors.
#include "tests/unit/expr/values.hpp"

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 3> {};
struct Twice : axis<"twice", 6> {};
struct Two : axis<"two", 2> {};
struct Row : axis<"row"> {};
struct Col : axis<"col"> {};

}  // namespace

TEST_CASE("new axes in any place, dynamic and static") {
  tensor b = from<f32, Hidden>({1, 2, 3});
  tensor y = repeat<"hidden -> batch hidden", Batch>(b, Batch{2});
  static_assert(same<decltype(y), tensor<f32, Batch, Hidden>>);
  CHECK(numbers(y) == doubles{1, 2, 3, 1, 2, 3});
  tensor z = repeat<"hidden -> hidden two", Two>(b);
  static_assert(same<decltype(z), tensor<f32, Hidden, Two>>);
  CHECK(numbers(z) == doubles{1, 1, 2, 2, 3, 3});
  tensor w = repeat<"hidden -> batch hidden seq", Batch, Seq>(b, Seq{2}, Batch{1});
  CHECK(w.shape() == shape<Batch, Hidden, Seq>{{1, 3, 2}});
  CHECK(numbers(w) == doubles{1, 1, 2, 2, 3, 3});
}

TEST_CASE("a number among the factors repeats") {
  tensor b = from<f32, Hidden>({1, 2, 3});
  CHECK(numbers(repeat<"hidden -> twice=(hidden 2)", Twice>(b)) == doubles{1, 1, 2, 2, 3, 3});
  CHECK(numbers(repeat<"hidden -> twice=(2 hidden)", Twice>(b)) == doubles{1, 2, 3, 1, 2, 3});
  tensor c = repeat<"hidden -> row=(3 hidden)", Row>(b);
  CHECK(c.shape() == shape<Row>{{9}});
  tensor image = counting<f64, Row, Col>(Row{1}, Col{2});
  CHECK(numbers(repeat<"row col -> row=(row 2) col=(col 2)">(image)) ==
        doubles{0, 0, 1, 1, 0, 0, 1, 1});
}

TEST_CASE("`...`, of a scalar, no repetition, none at all") {
  tensor b = from<f32, Hidden>({1, 2, 3});
  CHECK(repeat<"... -> batch ...", Batch>(b, Batch{4}).shape() == shape<Batch, Hidden>{{4, 3}});
  CHECK(numbers(repeat<" -> row", Row>(full<f64>(7), Row{3})) == doubles{7, 7, 7});
  CHECK(numbers(repeat<"hidden -> hidden">(b)) == doubles{1, 2, 3});
  CHECK(repeat<"hidden -> batch hidden", Batch>(b, Batch{0}).shape() ==
        shape<Batch, Hidden>{{0, 3}});
  CHECK(numbers(repeat<"hidden -> batch hidden", Batch>(b, Batch{0})).empty());
  CHECK(has(sentence([&] { tensor t = repeat<"hidden -> batch hidden", Batch>(b, Batch{-1}); }),
            {"repeat", "`batch`", "-1"}));
}

TEST_CASE("broadcast is the view, new axes first") {
  tensor b = from<f32, Hidden>({1, 2, 3});
  tally const ran;
  auto v = broadcast<Batch>(b, Batch{2});
  static_assert(decltype(v)::is_view);
  static_assert(same<decltype(tensor(v)), tensor<f32, Batch, Hidden>>);
  CHECK(shares(v, b));
  CHECK(ran.passes() == 0);
  CHECK(numbers(v) == doubles{1, 2, 3, 1, 2, 3});
  auto two = broadcast<Batch, Two>(b, Batch{2});
  static_assert(same<decltype(tensor(two)), tensor<f32, Batch, Two, Hidden>>);
  CHECK(numbers(sum<Batch, Two>(two)) == doubles{4, 8, 12});
  CHECK(broadcast<Batch>(b, Batch{0}).shape() == shape<Batch, Hidden>{{0, 3}});
  CHECK(numbers(broadcast<Row>(full<f64>(2), Row{2})) == doubles{2, 2});
  CHECK_THROWS_AS((void)broadcast<Batch>(b, Batch{-1}), shape_error);
  // No new axis is x itself.
  CHECK(numbers(broadcast<>(b)) == doubles{1, 2, 3});
  // Of an expression it is an expression.
  tensor e = broadcast<Batch>(b * 2, Batch{2}) + b;
  CHECK(numbers(e) == doubles{3, 6, 9, 3, 6, 9});
}
