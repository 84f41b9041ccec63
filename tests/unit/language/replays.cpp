// Inputs that broke other tensor libraries, with the right answers. The numbers are those of the shared
// list of replays; refusals of static extents are also rules in tests/compile_fail.
#include <doctest/doctest.h>

#include <ricci/ricci.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace ricci;

namespace {

struct I : axis<"i"> {};
struct J : axis<"j"> {};
struct K : axis<"k"> {};
struct L : axis<"l"> {};
struct M : axis<"m"> {};
struct Batch : axis<"batch"> {};
struct Row : axis<"row"> {};
struct Col : axis<"col"> {};
struct A : axis<"a"> {};
struct B : axis<"b"> {};
struct C : axis<"c"> {};
struct D : axis<"d"> {};
struct E : axis<"e"> {};
struct F : axis<"f"> {};
struct G : axis<"g"> {};
struct H : axis<"h"> {};
struct N : axis<"n"> {};
struct One : axis<"one"> {};
struct K1 : axis<"k1", 2> {};
struct K2 : axis<"k2", 2> {};

template <class T> std::vector<T> list(auto const& x) {
  tensor t = x;
  auto const values = t.values();
  return {values.begin(), values.end()};
}

/// 0, 1, 2, ... in row-major order.
template <class T, class... Ax, class... Given> auto counting(Given const&... given) {
  std::vector<T> values(static_cast<std::size_t>((std::int64_t{1} * ... * given.value)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i);
  return from<T, Ax...>(std::span<T const>(values), given...);
}

template <class Error = shape_error> std::string sentence(auto const& f) {
  try {
    f();
  } catch (Error const& fault) {
    return fault.what();
  }
  return "nothing was thrown";
}

bool has(std::string const& text, std::initializer_list<char const*> parts) {
  for (char const* part : parts)
    if (text.find(part) == std::string::npos) {
      MESSAGE(text, " lacks ", part);
      return false;
    }
  return true;
}

using floats = std::vector<f32>;
using doubles = std::vector<f64>;
constexpr f32 infinity = std::numeric_limits<f32>::infinity();

}  // namespace

TEST_CASE("1: extent 1 never stretches") {
  tensor a = ones<f32, I, K>(I{2}, K{1});
  tensor b = ones<f32, J, K>(J{2}, K{3});
  CHECK(has(sentence([&] { tensor r = einsum<"i k, j k -> i j">(a, b); }), {"`k`", "1", "3", "operand 1", "operand 2"}));
}

TEST_CASE("2: the axis that differs is the one named") {
  tensor a = ones<f32, A, B>(A{5}, B{4});
  tensor b = ones<f32, B, C>(B{6}, C{5});
  CHECK(has(sentence([&] { tensor r = einsum<"a b, b c -> a c">(a, b); }), {"`b`", "4", "6"}));
}

TEST_CASE("3: axes under the dots do not broadcast") {
  tensor a = ones<f32, Batch, I, J>(Batch{1}, I{2}, J{3});
  tensor b = ones<f32, Batch, J>(Batch{2}, J{3});
  CHECK(has(sentence([&] { tensor r = einsum<"... i j, ... j -> ... i">(a, b); }), {"`batch`", "1", "2"}));
}

TEST_CASE("4: operands swapped give the same numbers") {
  tensor a = counting<f64, Batch, I, J>(Batch{2}, I{2}, J{3});
  tensor b = counting<f64, Batch, J, K>(Batch{2}, J{3}, K{2});
  doubles const expected{10, 13, 28, 40, 172, 193, 244, 274};
  CHECK(list<f64>(einsum<"batch i j, batch j k -> batch i k">(a, b)) == expected);
  CHECK(list<f64>(einsum<"batch j k, batch i j -> batch i k">(b, a)) == expected);
}

TEST_CASE("5: a repeated index that is not at the end") {
  tensor x = counting<f64, Row, Col, K>(Row{2}, Col{2}, K{3});
  CHECK(list<f64>(einsum<"row=i col=i k -> i k", I>(x)) == doubles{0, 1, 2, 9, 10, 11});
  CHECK(list<f64>(einsum<"row=i col=i k -> i", I>(x)) == doubles{3, 30});
}

TEST_CASE("6: two indices tied twice, one pair summed, one kept") {
  tensor x = counting<f64, A, B, C, D>(A{2}, B{3}, C{2}, D{3});
  doubles expected(3);
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b) expected[static_cast<std::size_t>(b)] += ((a * 3 + b) * 2 + a) * 3 + b;
  CHECK(list<f64>(einsum<"a=i b=j c=i d=j -> j", J>(x)) == expected);
}

TEST_CASE("7: a vector times a matrix at extents beside the vector width") {
  CHECK(list<f32>(einsum<"i j, i -> j">(from<f32, I, J>({1, 2, 3, 4}, I{2}, J{2}), from<f32, I>({1, 1}, I{2}))) ==
        floats{4, 6});
  for (int n : {1, 2, 3, 5, 7, 15, 17}) {
    tensor a = counting<f32, I, J>(I{n}, J{n});
    tensor v = counting<f32, I>(I{n});
    floats expected(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) expected[static_cast<std::size_t>(j)] += static_cast<f32>((i * n + j) * i);
    CHECK(list<f32>(einsum<"i j, i -> j">(a, v)) == expected);
  }
}

TEST_CASE("8: four operands with a sparse tensor") {
  tensor n = from<f64, A, C>({1, 0, 0, 0, 1, 0, 0, 0, -1}, A{3}, C{3});
  tensor m = from<f64, F, G>({1, 0, 0, 0, 1, 0, 0, 0, -1}, F{3}, G{3});
  doubles w(27);
  for (auto const& [i, j, k, v] : {std::tuple{0, 0, 0, 1}, {0, 2, 2, 1}, {1, 0, 1, 1}, {1, 1, 0, -1}, {2, 0, 2, -1}, {2, 2, 0, 1}})
    w[static_cast<std::size_t>((i * 3 + j) * 3 + k)] = v;
  tensor u = from<f64, C, F, B>(std::span<f64 const>(w), C{3}, F{3}, B{3});
  tensor v = from<f64, G, D, A>(std::span<f64 const>(w), G{3}, D{3}, A{3});
  doubles expected(9);
  auto const eta = [](int i, int j) { return i != j ? 0 : i == 2 ? -1 : 1; };
  for (int a = 0; a < 3; ++a)
    for (int c = 0; c < 3; ++c)
      for (int f = 0; f < 3; ++f)
        for (int g = 0; g < 3; ++g)
          for (int b = 0; b < 3; ++b)
            for (int d = 0; d < 3; ++d)
              expected[static_cast<std::size_t>(b * 3 + d)] += eta(a, c) * eta(f, g) *
                                                               w[static_cast<std::size_t>((c * 3 + f) * 3 + b)] *
                                                               w[static_cast<std::size_t>((g * 3 + d) * 3 + a)];
  doubles const r = list<f64>(einsum<"a c, f g, c f b, g d a -> b d">(n, m, u, v));
  CHECK(r == expected);
  CHECK(r == doubles{-1, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("9: four operands of ranks 3 and 4") {
  tensor x = counting<f64, A, B, C>(A{3}, B{4}, C{4});
  tensor y = counting<f64, F, A, D, E>(F{3}, A{3}, D{2}, E{2});
  tensor z = counting<f64, G, D, B>(G{4}, D{2}, B{4});
  tensor w = counting<f64, H, E, C>(H{4}, E{2}, C{4});
  tensor<f64, F, G, H> r = einsum<"a b c, f a d e, g d b, h e c -> f g h">(x, y, z, w);
  REQUIRE(r.shape() == shape<F, G, H>{{3, 4, 4}});
  for (int f = 0; f < 3; ++f)
    for (int g = 0; g < 4; ++g)
      for (int h = 0; h < 4; ++h) {
        double expected = 0;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 4; ++b)
            for (int c = 0; c < 4; ++c)
              for (int d = 0; d < 2; ++d)
                for (int e = 0; e < 2; ++e)
                  expected += x(A{a}, B{b}, C{c}) * y(F{f}, A{a}, D{d}, E{e}) * z(G{g}, D{d}, B{b}) * w(H{h}, E{e}, C{c});
        CHECK(r(F{f}, G{g}, H{h}) == expected);
      }
}

TEST_CASE("10: an index on one operand only") {
  tensor c = counting<f64, I, J>(I{2}, J{2});
  tensor d = counting<f64, J, K>(J{2}, K{2});
  CHECK(list<f64>(einsum<"i j, j k -> k">(c, d)) == doubles{8, 14});
  CHECK(einsum<"i j, j k -> ">(c, d).item() == 22);
  tensor e = counting<f64, A, B>(A{2}, B{2});
  tensor f = counting<f64, A, C>(A{2}, C{2});
  CHECK(einsum<"a b, a c -> ">(e, f).item() == 26);
}

TEST_CASE("11: reversed, stepped, broadcast and diagonal operands equal their copies") {
  tensor x = counting<f32, Row, Col, K>(Row{6}, Col{6}, K{5});
  tensor w = counting<f32, K, L>(K{5}, L{3});
  auto const same = [&](auto const& view) {
    tensor copied = view;
    return list<f32>(einsum<"... k, k l -> ... l">(view, w)) == list<f32>(einsum<"... k, k l -> ... l">(copied, w));
  };
  CHECK(same(reverse<Row>(x)));
  CHECK(same(reverse<K>(x)));
  CHECK(same(slice<Row>(x, 1, 2, 2)));
  CHECK(same(slice<Col>(x, 0, 3, 2)));
  CHECK(same(broadcast<M>(at<Row>(x, 2), M{4})));
  CHECK(same(diagonal<Row, Col, D>(x)));
  CHECK(same(permute<K, Col, Row>(x)));
  CHECK(same(permute<Col, K, Row>(reverse<Col>(slice<Row>(x, 1, 2, 3)))));
  CHECK(list<f32>(sum<K>(reverse<Col>(x))) == list<f32>(reverse<Col>(tensor(sum<K>(x)))));
}

TEST_CASE("12: a result that is never annotated is checked all the same") {
  CHECK(!einsum_ok<"i k, j -> i j", tensor<f32, I, K>, tensor<f32, J, K>>);
  CHECK(einsum_ok<"i k, j k -> i j", tensor<f32, I, K>, tensor<f32, J, K>>);
}

TEST_CASE("14: zero extents") {
  tensor a = ones<f32, I, K>(I{2}, K{0});
  tensor b = ones<f32, K, J>(K{0}, J{3});
  CHECK(list<f32>(einsum<"i k, k j -> i j">(a, b)) == floats(6, 0.0f));
  tensor none = ones<f32, I, K>(I{0}, K{4});
  CHECK(list<f32>(einsum<"i k, k j -> i j">(none, ones<f32, K, J>(K{4}, J{3}))).empty());
  CHECK(list<f32>(sum<K>(a)) == floats{0, 0});
  CHECK(list<f32>(sum<I>(none)) == floats{0, 0, 0, 0});
  CHECK(list<f32>(exp(none) + 1).empty());
  CHECK(list<f32>(softmax<K>(a)).empty());
  CHECK(list<f32>(rearrange<"i k -> k i">(none)).empty());
  CHECK(has(sentence([&] { tensor r = max<K>(a); }), {"max", "`k`"}));
  CHECK(list<i32>(concat<I>(zeros<i32, I>(I{0}), iota<i32, I>(I{2}))) == std::vector<i32>{0, 1});
}

TEST_CASE("15: splits, and which of them are views") {
  tensor x = counting<f32, A>(A{8});
  CHECK(list<f32>(rearrange<"a=(k1 k2 n) -> n k1 k2", N, K1, K2>(x)) == floats{0, 2, 4, 6, 1, 3, 5, 7});
  auto const split = rearrange_view<"a=(n k1 k2) -> n k1 k2", N, K1, K2>(x);
  CHECK(list<f32>(split) == floats{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(graph::data(split.handle()) == x.values().data());
}

TEST_CASE("16: losses do not broadcast") {
  tensor x = counting<f32, N>(N{3});
  CHECK(mse(x, x + 2).item() == doctest::Approx(4));
  // mse of [n] against [n one] does not compile: tests/compile_fail
}

TEST_CASE("18: a map of an axis to itself") {
  struct Width : axis<"width", 4> {};
  nn::linear<f32, Width, Width> map;
  initialize(map, random::key(1));
  tensor<f32, Batch, Width> y = map(ones<f32, Batch, Width>(Batch{2}));
  double expected = map.bias(Width{1});
  for (int i = 0; i < 4; ++i) expected += map.weight(Width{i}, prime<Width>{1});
  CHECK(y(Batch{1}, Width{1}) == doctest::Approx(expected));
}

TEST_CASE("19: a split that does not divide") {
  tensor x = ones<f32, A>(A{173});
  struct Two : axis<"two", 2> {};
  CHECK(has(sentence([&] { tensor r = rearrange<"a=(n two) -> n two", N, Two>(x); }), {"`a`", "173", "2"}));
}

TEST_CASE("21: sums of narrow floats accumulate in f32") {
  tensor h = ones<f16, N>(N{4096});
  CHECK(static_cast<float>(sum<N>(h).item()) == 4096);
  CHECK(static_cast<float>(mean<N>(h).item()) == 1);
  CHECK(static_cast<float>(sum<N>(ones<bf16, N>(N{512})).item()) == 512);
}

TEST_CASE("22: means and softmax of narrow floats") {
  CHECK(static_cast<float>(mean<N>(from<f16, N>({f16(60000), f16(60000)}, N{2})).item()) == static_cast<float>(f16(60000)));
  tensor p = softmax<N>(ones<bf16, N>(N{512}));
  double total = 0;
  for (bf16 const v : p.values()) {
    CHECK(static_cast<float>(v) == 1.0f / 512);
    total += static_cast<float>(v);
  }
  CHECK(total == 1);
}

TEST_CASE("24: logsumexp and softmax of masked rows") {
  tensor x = from<f32, Row, N>({-infinity, -infinity, 1, 2}, Row{2}, N{2});
  tensor lse = logsumexp<N>(x);
  CHECK(lse(Row{0}) == -infinity);
  CHECK(lse(Row{1}) == doctest::Approx(2.31326));
  tensor g = grad([](auto const& v) { return sum(logsumexp<N>(v)); }, x);
  CHECK(g(Row{0}, N{0}) == 0);
  CHECK(g(Row{0}, N{1}) == 0);
  CHECK(g(Row{1}, N{0}) + g(Row{1}, N{1}) == doctest::Approx(1));
  tensor p = softmax<N>(x);
  CHECK(p(Row{0}, N{0}) == 0);
  tensor dp = grad([](auto const& v) { return sum(square(softmax<N>(v))); }, x);
  for (f32 const v : dp.values()) CHECK(std::isfinite(v));
  CHECK(dp(Row{1}, N{0}) != 0);
}

TEST_CASE("25: argmax") {
  tensor x = from<f32, Row, N>({1, 3, 3, 5, 5, 2}, Row{2}, N{3});
  CHECK(list<i64>(argmax<N>(x)) == std::vector<i64>{1, 0});
  CHECK(list<i64>(argmax<Row>(ones<f32, Row, N>(Row{1}, N{3}))) == std::vector<i64>{0, 0, 0});
  auto const view = slice<N>(reverse<N>(x), 0, 2, 2);
  CHECK(list<i64>(argmax<N>(view)) == list<i64>(argmax<N>(tensor(view))));
  tensor many = random::normal<f32, Batch, Row, N>(random::key(3), Batch{7}, Row{5}, N{33});
  tensor best = argmax<N>(many);
  for (int b = 0; b < 7; ++b)
    for (int r = 0; r < 5; ++r) {
      int expected = 0;
      for (int n = 1; n < 33; ++n)
        if (many(Batch{b}, Row{r}, N{n}) > many(Batch{b}, Row{r}, N{expected})) expected = n;
      CHECK(best(Batch{b}, Row{r}) == expected);
    }
}

TEST_CASE("26: NaN in max and min, sums of narrow integers") {
  f32 const nan = std::numeric_limits<f32>::quiet_NaN();
  tensor x = from<f32, N>({1, nan, 3}, N{3});
  CHECK(std::isnan(max<N>(x).item()));
  CHECK(std::isnan(min<N>(x).item()));
  static_assert(std::is_same_v<decltype(sum<N>(ones<i32, N>(N{1})).item()), i64>);
  static_assert(std::is_same_v<decltype(sum<N>(ones<i16, N>(N{1})).item()), i64>);
  static_assert(std::is_same_v<decltype(sum<N>(ones<i8, N>(N{1})).item()), i64>);
  static_assert(std::is_same_v<decltype(sum<N>(ones<u8, N>(N{1})).item()), i64>);
  static_assert(std::is_same_v<decltype(sum<N>(ones<u16, N>(N{1})).item()), i64>);
  CHECK(sum<N>(full<i8, N>(100, N{1000})).item() == 100000);
}
