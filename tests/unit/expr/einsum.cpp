// einsum at run time: every form of the grammar against loops, result types, ranks and operand
// counts.
#include "tests/unit/expr/values.hpp"

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Query : axis<"query"> {};
struct Key : axis<"key"> {};
struct Hidden : axis<"hidden", 6> {};
struct Mlp : axis<"mlp", 5> {};
struct Heads : axis<"heads", 2> {};
struct HeadDim : axis<"head_dim", 3> {};
struct Row : axis<"row"> {};
struct Col : axis<"col"> {};
struct I : axis<"i"> {};
struct J : axis<"j"> {};
struct K : axis<"k"> {};

auto operand() { return counting_from<f64, Batch, Seq, Hidden>(-7, Batch{2}, Seq{3}); }
auto weight() { return counting_from<f64, Hidden, Mlp>(-4); }

/// sum over hidden of x(b, s, h) w(h, m)
double expected_at(int b, int s, int m) {
  auto const x = operand();
  auto const w = weight();
  double sum = 0;
  for (int h = 0; h < 6; ++h) sum += x(Batch{b}, Seq{s}, Hidden{h}) * w(Hidden{h}, Mlp{m});
  return sum;
}

template <class Y> void check_product(Y const& y) {
  for (int b = 0; b < 2; ++b)
    for (int s = 0; s < 3; ++s)
      for (int m = 0; m < 5; ++m) CHECK(y(Batch{b}, Seq{s}, Mlp{m}) == expected_at(b, s, m));
}

}  // namespace

TEST_CASE("all axes named") {
  tensor y = einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(operand(), weight());
  static_assert(same<decltype(y), tensor<f64, Batch, Seq, Mlp>>);
  check_product(y);
}

TEST_CASE("`...` stands for the axes not named, in order of first appearance") {
  tensor y = einsum<"... hidden, hidden mlp -> ... mlp">(operand(), weight());
  static_assert(same<decltype(y), tensor<f64, Batch, Seq, Mlp>>);
  check_product(y);
  tensor front = einsum<"hidden ..., hidden mlp -> mlp ...">(operand(), weight());
  static_assert(same<decltype(front), tensor<f64, Mlp, Batch, Seq>>);
  check_product(front);
  // A dotted axis that the result names stands where it is named.
  tensor named = einsum<"... hidden, hidden mlp -> seq mlp ...">(operand(), weight());
  static_assert(same<decltype(named), tensor<f64, Seq, Mlp, Batch>>);
  check_product(named);
  // Dots in both operands: first those of operand 1.
  tensor both = einsum<"... hidden, ... hidden -> ...">(operand(), weight());
  static_assert(same<decltype(both), tensor<f64, Batch, Seq, Mlp>>);
  check_product(both);
  // Dots that stand for nothing.
  tensor none =
      einsum<"batch seq hidden ..., ... hidden mlp -> batch ... seq mlp">(operand(), weight());
  static_assert(same<decltype(none), tensor<f64, Batch, Seq, Mlp>>);
  check_product(none);
  // Without dots in the result what stood under them is summed.
  tensor summed = einsum<"... hidden, hidden mlp -> mlp">(operand(), weight());
  for (int m = 0; m < 5; ++m) {
    double expected = 0;
    for (int b = 0; b < 2; ++b)
      for (int s = 0; s < 3; ++s) expected += expected_at(b, s, m);
    CHECK(summed(Mlp{m}) == expected);
  }
}

TEST_CASE("the order of items in a group is free") {
  check_product(einsum<"hidden seq batch, mlp hidden -> batch seq mlp">(operand(), weight()));
  check_product(einsum<"  hidden   seq batch,mlp hidden->batch seq mlp ">(operand(), weight()));
  tensor y = einsum<"seq hidden batch, mlp hidden -> mlp seq batch">(operand(), weight());
  static_assert(same<decltype(y), tensor<f64, Mlp, Seq, Batch>>);
  check_product(y);
}

TEST_CASE("one axis under two indices") {
  tensor q = counting<f64, Batch, Seq, Heads, HeadDim>(Batch{2}, Seq{3});
  tensor k = counting_from<f64, Batch, Seq, Heads, HeadDim>(5, Batch{2}, Seq{3});
  tensor scores =
      einsum<"batch seq=q heads head_dim, batch seq=k heads head_dim -> batch heads query=q key=k",
             Query, Key>(q, k);
  static_assert(same<decltype(scores), tensor<f64, Batch, Heads, Query, Key>>);
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          double expected = 0;
          for (int d = 0; d < 3; ++d)
            expected += q(Batch{b}, Seq{i}, Heads{h}, HeadDim{d}) *
                        k(Batch{b}, Seq{j}, Heads{h}, HeadDim{d});
          CHECK(scores(Batch{b}, Heads{h}, Query{i}, Key{j}) == expected);
        }
}

TEST_CASE("a trace and a diagonal") {
  tensor a = counting<f64, Row, Col>(Row{4}, Col{4});
  CHECK(einsum<"row=i col=i -> ">(a).item() == 0 + 5 + 10 + 15);
  tensor d = einsum<"row=i col=i -> row=i">(a);
  static_assert(same<decltype(d), tensor<f64, Row>>);
  CHECK(numbers(d) == doubles{0, 5, 10, 15});
  tensor e = einsum<"row=i col=i -> i", I>(a);
  static_assert(same<decltype(e), tensor<f64, I>>);
  CHECK(numbers(e) == doubles{0, 5, 10, 15});
}

TEST_CASE("an axis to itself through its prime") {
  tensor x = operand();
  tensor w = counting<f64, Hidden, prime<Hidden>>();
  tensor y = einsum<"batch seq hidden, hidden hidden' -> batch seq hidden=hidden'">(x, w);
  static_assert(same<decltype(y), tensor<f64, Batch, Seq, Hidden>>);
  static_assert(prime<Hidden>::static_extent == 6 && prime<Hidden>::name.view() == "hidden'");
  static_assert(prime<prime<Hidden>>::name.view() == "hidden''");
  for (int o = 0; o < 6; ++o) {
    double expected = 0;
    for (int h = 0; h < 6; ++h)
      expected += x(Batch{1}, Seq{2}, Hidden{h}) * w(Hidden{h}, prime<Hidden>{o});
    CHECK(y(Batch{1}, Seq{2}, Hidden{o}) == expected);
  }
  // Twice: hidden -> hidden' -> hidden''.
  tensor v = counting<f64, prime<Hidden>, prime<prime<Hidden>>>();
  tensor z = einsum<"... hidden, hidden hidden', hidden' hidden'' -> ... hidden''">(x, w, v);
  static_assert(same<decltype(z), tensor<f64, Batch, Seq, prime<prime<Hidden>>>>);
  double expected = 0;
  for (int h = 0; h < 6; ++h)
    for (int p = 0; p < 6; ++p)
      expected += x(Batch{1}, Seq{0}, Hidden{h}) * w(Hidden{h}, prime<Hidden>{p}) *
                  v(prime<Hidden>{p}, prime<prime<Hidden>>{4});
  CHECK(z(Batch{1}, Seq{0}, prime<prime<Hidden>>{4}) == expected);
}

TEST_CASE("axes split and merged inside a contraction") {
  tensor x = operand();
  tensor w = counting<f64, Heads, HeadDim, Mlp>();
  tensor y = einsum<"... hidden=(heads head_dim), heads head_dim mlp -> ... mlp">(x, w);
  tensor flat = rearrange<"heads head_dim mlp -> hidden=(heads head_dim) mlp", Hidden>(w);
  CHECK(numbers(y) == numbers(einsum<"... hidden, hidden mlp -> ... mlp">(x, flat)));
  // Merged in the result.
  tensor merged =
      einsum<"row=i, col=j -> k=(i j)", K>(counting<f64, Row>(Row{2}), counting<f64, Col>(Col{3}));
  static_assert(same<decltype(merged), tensor<f64, K>>);
  CHECK(numbers(merged) == doubles{0, 0, 0, 0, 1, 2});
  // A number is an index without a name: it is summed.
  tensor halves = einsum<"hidden=(i 2) -> i", I>(counting<f64, Hidden>());
  CHECK(numbers(halves) == doubles{1, 5, 9});
  // The extent of one of two dynamic factors by value.
  tensor split = einsum<"row=(i j) -> j i", I, J>(counting<f64, Row>(Row{6}), I{2});
  static_assert(same<decltype(split), tensor<f64, J, I>>);
  CHECK(numbers(split) == doubles{0, 3, 1, 4, 2, 5});
}

TEST_CASE("one operand: sums, permutations, copies") {
  tensor a = counting<f64, Row, Col>(Row{2}, Col{3});
  CHECK(numbers(einsum<"row col -> col row">(a)) == doubles{0, 3, 1, 4, 2, 5});
  CHECK(numbers(einsum<"row col -> row">(a)) == doubles{3, 12});
  CHECK(einsum<"row col -> ">(a).item() == 15);
  CHECK(numbers(einsum<"... -> ...">(a)) == numbers(a));
}

TEST_CASE("rank-0 operands") {
  tensor s = full<f64>(3);
  tensor v = counting<f64, Row>(Row{3});
  CHECK(numbers(einsum<", row -> row">(s, v)) == doubles{0, 3, 6});
  CHECK(numbers(einsum<"..., ... -> ...">(s, v)) == doubles{0, 3, 6});
  CHECK(einsum<", -> ">(s, s).item() == 9);
  CHECK(einsum<" -> ">(s).item() == 3);
}

TEST_CASE("generic code builds its pattern out of names") {
  auto const apply = []<class In>(auto const& x, auto const& w, In const&) {
    return einsum<"... " + In::name + ", " + In::name + " mlp -> ... mlp">(x, w);
  };
  check_product(apply(operand(), weight(), Hidden{0}));
}

TEST_CASE("dtypes of the result are those of the operands") {
  tensor f =
      einsum<"i k, k j -> i j">(ones<bf16, I, K>(I{2}, K{300}), ones<bf16, K, J>(K{300}, J{2}));
  static_assert(same<decltype(f), tensor<bf16, I, J>>);
  CHECK(numbers(f) == doubles{300, 300, 300, 300});
  // 2049 ones: an f16 accumulator stops at 2048, f32 rounds once to the even neighbour.
  CHECK(numbers(einsum<"i, i -> ">(full<f16, I>(1, I{2051}), ones<f16, I>(I{2051}))) ==
        doubles{2052});
  CHECK(numbers(einsum<"i, i -> ">(ones<f8_e4m3, I>(I{40}), ones<f8_e4m3, I>(I{40}))) ==
        doubles{40});
  CHECK(numbers(einsum<"i, i -> ">(ones<f8_e5m2, I>(I{40}), ones<f8_e5m2, I>(I{40}))) ==
        doubles{40});
  tensor n =
      einsum<"i k, k j -> i j">(counting<i64, I, K>(I{2}, K{2}), counting<i64, K, J>(K{2}, J{2}));
  CHECK(list(n) == std::vector<i64>{2, 3, 6, 11});
  CHECK(numbers(einsum<"i, i -> ">(full<u8, I>(10, I{2}), full<u8, I>(12, I{2}))) == doubles{240});
}

TEST_CASE("five operands, and an operand used twice") {
  tensor a = counting<f64, I, J>(I{2}, J{3});
  tensor b = counting<f64, J, K>(J{3}, K{2});
  tensor c = counting<f64, K, Row>(K{2}, Row{2});
  tensor d = counting<f64, Row, Col>(Row{2}, Col{2});
  tensor y = einsum<"i j, j k, k row, row col, i j -> i col">(a, b, c, d, a);
  for (int i = 0; i < 2; ++i)
    for (int col = 0; col < 2; ++col) {
      double expected = 0;
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 2; ++k)
          for (int r = 0; r < 2; ++r)
            expected += a(I{i}, J{j}) * b(J{j}, K{k}) * c(K{k}, Row{r}) * d(Row{r}, Col{col}) *
                        a(I{i}, J{j});
      CHECK(y(I{i}, Col{col}) == expected);
    }
}

TEST_CASE("can be asked without failing") {
  using X = tensor<f32, Batch, Seq, Hidden>;
  using W = tensor<f32, Hidden, Mlp>;
  static_assert(einsum_ok<"... hidden, hidden mlp -> ... mlp", X, W>);
  static_assert(!einsum_ok<"... hiden, hidden mlp -> ... mlp", X, W>);
  static_assert(!einsum_ok<"... hidden, hidden mlp -> ... mlp", X>);
  static_assert(!einsum_ok<"... hidden, hidden mlp -> ... mlp", X, tensor<f64, Hidden, Mlp>>);
  static_assert(einsum_ok<"batch seq hidden -> ", X>);
}
