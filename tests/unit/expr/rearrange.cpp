// rearrange at run time: splits, merges, permutations, which of them are views, extents by value.
#include "tests/unit/expr/values.hpp"

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 6> {};
struct Heads : axis<"heads", 2> {};
struct HeadDim : axis<"head_dim", 3> {};
struct Row : axis<"row"> {};
struct Col : axis<"col"> {};
struct All : axis<"all"> {};
struct H : axis<"h"> {};
struct W : axis<"w"> {};
struct H2 : axis<"h2", 2> {};
struct W2 : axis<"w2", 2> {};

auto image() { return counting<f64, Row, Col>(Row{4}, Col{6}); }

}  // namespace

TEST_CASE("heads: split, permute, and back") {
  tensor x = counting<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
  auto y =
      rearrange<"batch seq hidden=(heads head_dim) -> batch heads seq head_dim", Heads, HeadDim>(x);
  static_assert(decltype(y)::is_view);
  static_assert(same<decltype(tensor(y)), tensor<f32, Batch, Heads, Seq, HeadDim>>);
  CHECK(shares(x, y));
  for (int b = 0; b < 2; ++b)
    for (int s = 0; s < 3; ++s)
      for (int h = 0; h < 2; ++h)
        for (int d = 0; d < 3; ++d)
          CHECK(y(Batch{b}, Seq{s}, Heads{h}, HeadDim{d}) ==
                x(Batch{b}, Seq{s}, Hidden{h * 3 + d}));
  // The inverse is no view of a packed tensor, but it is one of the permuted view.
  auto back = rearrange<"batch heads seq head_dim -> batch seq hidden=(heads head_dim)", Hidden>(y);
  static_assert(decltype(back)::is_view);
  CHECK(shares(x, back));
  CHECK(list(back) == list(x));
  tensor packed = y;
  auto copied =
      rearrange<"batch heads seq head_dim -> batch seq hidden=(heads head_dim)", Hidden>(packed);
  static_assert(decltype(copied)::is_expression);
  tally const ran;
  CHECK(list(copied) == list(x));
  CHECK(ran.copies() == 1);
}

TEST_CASE("space to depth") {
  auto y = rearrange<"row=(h h2) col=(w w2) -> h w h2 w2", H, W, H2, W2>(image());
  static_assert(same<decltype(tensor(y)), tensor<f64, H, W, H2, W2>>);
  CHECK(numbers(at<H>(at<W>(y, 1), 0)) == doubles{2, 3, 8, 9});
  tensor z = rearrange<"row=(h h2) col=(w w2) -> h w all=(h2 w2)", H, W, All>(image(), H{2}, W{3});
  static_assert(same<decltype(z), tensor<f64, H, W, All>>);
  CHECK(numbers(z) == numbers(tensor(y)));
}

TEST_CASE("a split with two unknown factors takes one by value") {
  tensor x = counting<f64, All>(All{12});
  auto y = rearrange<"all=(h w) -> h w", H, W>(x, H{3});
  CHECK(y.shape() == shape<H, W>{{3, 4}});
  auto z = rearrange<"all=(h w) -> w h", H, W>(x, W{3});
  CHECK(z.shape() == shape<W, H>{{3, 4}});
  CHECK(numbers(z) == doubles{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
  // Both are allowed where they fit.
  CHECK(rearrange<"all=(h w) -> h w", H, W>(x, H{4}, W{3}).shape() == shape<H, W>{{4, 3}});
  CHECK(has(sentence([&] { (void)rearrange<"all=(h w) -> h w", H, W>(x, H{5}); }),
            {"rearrange", "`all`", "12", "5"}));
  CHECK(has(sentence([&] { (void)rearrange<"all=(h w) -> h w", H, W>(x, H{4}, W{4}); }),
            {"rearrange", "`all`", "12", "16"}));
  CHECK_THROWS_AS((void)(rearrange<"all=(h w) -> h w", H, W>(x, H{0})), shape_error);
  CHECK_THROWS_AS((void)(rearrange<"all=(h w) -> h w", H, W>(x, H{-3})), shape_error);
}

TEST_CASE("merging in another order copies, in memory's order it does not") {
  tensor x = image();
  auto flat = rearrange<"row col -> all=(row col)", All>(x);
  static_assert(decltype(flat)::is_view);
  CHECK(shares(x, flat));
  CHECK(numbers(flat) == numbers(x));
  tensor turned = rearrange<"row col -> all=(col row)", All>(x);
  CHECK(numbers(turned) == numbers(permute<Col, Row>(x)));
  auto again = rearrange_view<"col row -> all=(row col)", All>(permute<Col, Row>(x));
  CHECK(shares(x, again));
}

TEST_CASE("`...`, an index renamed, an axis of a static extent") {
  tensor x = counting<f64, Batch, Seq, Hidden>(Batch{2}, Seq{2});
  CHECK(rearrange<"... hidden -> hidden ...">(x).shape() == shape<Hidden, Batch, Seq>{{6, 2, 2}});
  CHECK(rearrange<"batch seq ... -> seq ... batch">(x).shape() ==
        shape<Seq, Hidden, Batch>{{2, 6, 2}});
  auto renamed = rearrange<"batch seq hidden -> batch col=seq hidden", Col>(x);
  static_assert(same<decltype(tensor(renamed)), tensor<f64, Batch, Col, Hidden>>);
  CHECK(shares(x, renamed));
  tensor wide = counting<f64, All>(All{6});
  auto fixed = rearrange<"all -> hidden=all", Hidden>(wide);
  static_assert(same<decltype(tensor(fixed)), tensor<f64, Hidden>>);
  CHECK(has(
      sentence([&] { (void)rearrange<"all -> hidden=all", Hidden>(counting<f64, All>(All{5})); }),
      {"rearrange", "5", "6", "`all`", "`hidden`"}));
}

TEST_CASE("extents 0 and 1, rank 0") {
  tensor none = zeros<f64, Row, Col>(Row{0}, Col{3});
  CHECK(rearrange<"row col -> all=(row col)", All>(none).shape() == shape<All>{{0}});
  CHECK(rearrange<"row col -> all=(col row)", All>(none).shape() == shape<All>{{0}});
  CHECK(rearrange<"row=(h h2) col -> h2 h col", H, H2>(none).shape() ==
        shape<H2, H, Col>{{2, 0, 3}});
  tensor one = counting<f64, Row, Col>(Row{1}, Col{3});
  CHECK(numbers(rearrange<"row col -> all=(col row)", All>(one)) == doubles{0, 1, 2});
  CHECK(rearrange<" -> ">(full<f64>(3)).item() == 3);
  CHECK(rearrange<"... -> ...">(full<f64>(3)).item() == 3);
}

TEST_CASE("of an expression it is an expression, which fuses or copies once") {
  tensor x = image();
  auto e = rearrange<"row col -> all=(row col)", All>(x + 1);
  static_assert(decltype(e)::is_expression);
  tally const ran;
  tensor y = std::move(e);
  CHECK(ran.loops() == 1);
  CHECK(ran.copies() == 0);
  CHECK(numbers(y) == numbers(counting_from<f64, Row, Col>(1, Row{4}, Col{6})));
  tensor z = rearrange<"row col -> all=(col row)", All>(x * 2);
  CHECK(z(All{1}) == 12);
}

TEST_CASE("rearrange_view is what it says; rearrange_ok asks") {
  tensor x = image();
  tally const ran;
  auto v = rearrange_view<"row=(h h2) col -> h2 h col", H, H2>(x);
  CHECK(ran.passes() == 0);
  CHECK(shares(x, v));
  static_assert(rearrange_ok<"row col -> col row", decltype(x)>);
  static_assert(!rearrange_ok<"row col -> col", decltype(x)>);
  static_assert(rearrange_ok<"row col -> all=(col row)", All, decltype(x)>);
}

TEST_CASE("round trips of random rearrangements, also of strided views") {
  tensor base = random::normal<f32, Row, Col, Batch>(random::key(1), Row{4}, Col{6}, Batch{2});
  auto const check = [](auto const& x) {
    tensor y = rearrange<"row=(h h2) col=(w w2) batch -> w2 h batch w h2", H, W, H2, W2>(x);
    tensor z = rearrange<"w2 h batch w h2 -> row=(h h2) col=(w w2) batch", Row, Col>(y);
    CHECK(list(z) == list(permute<Row, Col, Batch>(x)));
  };
  check(base);
  check(reverse<Row>(base));
  check(slice<Col>(base, 1, 2, 2));
  check(permute<Batch, Col, Row>(base));
  check(broadcast<Batch>(at<Batch>(base, 1), Batch{3}));
  check(tensor(permute<Col, Batch, Row>(base)));
}
