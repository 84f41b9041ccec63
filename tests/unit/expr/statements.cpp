// What runs, and how often: fusing, const names, temporaries, expressions that outlive their
// operands.
#include "tests/unit/expr/values.hpp"

#include <cmath>
#include <memory>
#include <optional>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 96> {};
struct Heads : axis<"heads", 4> {};
struct HeadDim : axis<"head_dim", 16> {};

auto input() {
  tensor x = random::normal<f32, Batch, Seq, Hidden>(random::key(1), Batch{3}, Seq{20});
  return x;
}
auto weight() { return random::normal<f32, Hidden, Mlp>(random::key(2)); }
auto bias() { return random::normal<f32, Mlp>(random::key(3)); }

template <class X>
concept squares = requires(X&& x) { static_cast<X&&>(x) * static_cast<X&&>(x); };

}  // namespace

TEST_CASE("a contraction with its bias and activation is one gemm and nothing else") {
  tensor x = input();
  tensor w = weight();
  tensor b = bias();
  tally const ran;
  tensor h = gelu(einsum<"... hidden, hidden mlp -> ... mlp">(x, w) + b);
  CHECK(ran.gemms() == 1);
  CHECK(ran.passes() == 1);
  CHECK(ran.statements() == 1);
  tensor by_hand = einsum<"... hidden, hidden mlp -> ... mlp">(x, w);
  tensor with_bias = by_hand + b;
  tensor activated = gelu(with_bias);
  auto const expected = numbers(activated);
  auto const got = numbers(h);
  for (std::size_t i = 0; i < got.size(); i += 7)
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-4));
  // A residual rides along too.
  tensor down = random::normal<f32, Mlp, Hidden>(random::key(5));
  tally const again;
  tensor r = x + einsum<"... mlp, mlp hidden -> ... hidden">(h, down);
  CHECK(again.gemms() == 1);
  CHECK(again.passes() <= 2);
}

TEST_CASE("elementwise operations fuse into one loop, with or without `auto`") {
  tensor x = input();
  tally const ran;
  auto e = x * 2 + 1;
  CHECK(ran.passes() == 0);
  tensor y = exp(std::move(e)) / (1 + square(x));
  CHECK(ran.loops() == 1);
  CHECK(ran.passes() == 1);
}

TEST_CASE("`tensor h = e` of a name evaluates once, also when it happens twice") {
  tensor x = input();
  auto e = x + 1;
  tally const ran;
  tensor a = e;
  tensor b = e;
  CHECK(ran.passes() == 1);
  CHECK(shares(a, b));
  static_assert(same<decltype(a), tensor<f32, Batch, Seq, Hidden>>);
  tensor<f32, Batch, Seq, Hidden> c = e;
  CHECK(ran.passes() == 1);
}

TEST_CASE("a const name is evaluated at its first use and remembered") {
  tensor x = input();
  auto const square_of = [](auto const& v) { return v * v; };
  tally const ran;
  tensor y = square_of(exp(x) + 1);
  CHECK(ran.loops() == 2);  // the argument, then its square
  CHECK(ran.passes() == 2);
  auto const expected = x(Batch{1}, Seq{2}, Hidden{3});
  CHECK(y(Batch{1}, Seq{2}, Hidden{3}) ==
        doctest::Approx((std::exp(expected) + 1) * (std::exp(expected) + 1)));
  // Used three times by two statements: once evaluated.
  auto const e = exp(x);
  tally const again;
  tensor a = e + x;
  tensor b = e * e;
  CHECK(again.loops() == 3);
  // A const name of a contraction.
  tensor w = weight();
  tally const product;
  tensor z = square_of(einsum<"... hidden, hidden mlp -> ... mlp">(x, w));
  CHECK(product.gemms() == 1);
  CHECK(product.passes() == 2);
}

TEST_CASE("a temporary fuses through functions that forward it") {
  tensor x = input();
  auto const twice = [](auto&& v) { return static_cast<decltype(v)>(v) * 2; };
  tally const ran;
  tensor y = twice(twice(twice(x + 1)));
  CHECK(ran.passes() == 1);
  CHECK(y(Batch{0}, Seq{0}, Hidden{0}) ==
        doctest::Approx(8 * (x(Batch{0}, Seq{0}, Hidden{0}) + 1)));
}

TEST_CASE("names of unevaluated expressions are refused, moved ones and views are not") {
  // The compile errors themselves are in tests/compile_fail; these are the categories.
  using Expression = decltype(std::declval<tensor<f32, Batch>>() + 1);
  static_assert(!std::is_copy_constructible_v<Expression> &&
                !std::is_copy_assignable_v<Expression>);
  static_assert(std::is_nothrow_move_constructible_v<Expression> &&
                std::is_move_assignable_v<Expression>);
  static_assert(std::is_copy_constructible_v<decltype(at<Batch>(
                    std::declval<tensor<f32, Batch, Seq>&>(), 0))>);
  static_assert(detail::is_name<Expression&> && !detail::is_name<Expression const&> &&
                !detail::is_name<Expression>);
  static_assert(!detail::is_name<tensor<f32, Batch>&>);
  tensor x = input();
  auto view = at<Batch>(x, 0);
  tensor y = view * view;
  CHECK(y(Seq{0}, Hidden{0}) == x(Batch{0}, Seq{0}, Hidden{0}) * x(Batch{0}, Seq{0}, Hidden{0}));
}

TEST_CASE("eval evaluates inside an expression; of a tensor it is the tensor") {
  tensor x = input();
  tally const ran;
  tensor y = eval(x + 1) * 2;
  CHECK(ran.loops() == 2);
  auto z = eval(x);
  static_assert(same<decltype(z), tensor<f32, Batch, Seq, Hidden>>);
  CHECK(shares(x, z));
  auto e = x + 1;
  auto v = eval(e);
  static_assert(same<decltype(v), tensor<f32, Batch, Seq, Hidden>>);
}

TEST_CASE("an expression owns its operands, and a function may return one") {
  auto const make = [](float by) {
    tensor x = full<f32, Batch>(3, Batch{4});
    tensor local = x * 2;
    return local + by;
  };
  CHECK(numbers(make(1)) == doubles{7, 7, 7, 7});
  auto kept = [] {
    auto x = std::make_unique<tensor<f32, Batch>>(from<f32, Batch>({1, 2}, Batch{2}));
    auto e = exp(*x * 0) + *x;
    x.reset();
    return e;
  }();
  CHECK(numbers(std::move(kept)) == doubles{2, 3});
  // The tensor is given another value before the expression runs: it computes with the old one.
  tensor x = from<f32, Batch>({1, 2}, Batch{2});
  auto e = x + 10;
  x = from<f32, Batch>({5, 6}, Batch{2});
  CHECK(numbers(e) == doubles{11, 12});
  x = x + 1;
  CHECK(numbers(x) == doubles{6, 7});
  for (int i = 0; i < 1000; ++i) x = x * 1 + 1;
  CHECK(numbers(x) == doubles{1006, 1007});
}

TEST_CASE("an expression given away as a value is that value") {
  tensor x = from<f32, Batch>({1, 2}, Batch{2});
  auto e = x + 1;
  tensor y = std::move(e);
  CHECK(numbers(y) == doubles{2, 3});
  // Moved into an operation it is empty, and says so.
  auto f = x + 2;
  auto g = std::move(f) * 2;
  CHECK_THROWS_AS((void)tensor(f), value_error);  // NOLINT: the use is the test
  CHECK(numbers(g) == doubles{6, 8});
}

TEST_CASE("a very long chain is cut into loops, not refused, and taken apart without recursion") {
  tensor x = from<f64, Batch>({1, 2}, Batch{2});
  std::optional<decltype(detail::pointwise<"+", opcode::add>(std::declval<tensor<f64, Batch>&>(),
                                                             1))>
      e(x + 1);
  graph::handle chain = std::move(*e).handle();
  graph::handle const one = graph::constant(dtype::f64, 1, 1);
  for (int i = 0; i < 100000; ++i) {
    graph::handle const operands[] = {chain, one};
    chain = graph::pointwise("+", opcode::add, operands, 2);
  }
  tensor<f64, Batch> y(detail::make_node{}, graph::packed(chain));
  chain = {};
  CHECK(numbers(y) == doubles{100002, 100003});
}

TEST_CASE("views share storage, rearrange included, and cost nothing") {
  tensor x = input();
  tally const ran;
  auto heads =
      rearrange<"batch seq hidden=(heads head_dim) -> batch heads seq head_dim", Heads, HeadDim>(x);
  auto part = slice<Seq>(permute<Heads, Batch, HeadDim, Seq>(heads), 2, 5);
  CHECK(ran.passes() == 0);
  CHECK(ran.statements() == 0);
  CHECK(shares(x, heads));
  CHECK(part(Heads{1}, Batch{2}, HeadDim{3}, Seq{0}) == x(Batch{2}, Seq{2}, Hidden{19}));
}

TEST_CASE("copies of a tensor share until one of them is written") {
  tensor x = input();
  tensor y = x;
  CHECK(shares(x, y));
  tensor z = std::move(x);
  CHECK(shares(y, z));
  CHECK(x.is_empty());  // NOLINT: the use is the test
  y = y + 1;
  CHECK(!shares(y, z));
}

TEST_CASE("attention's contractions on views run as gemms without a copy") {
  tensor x = input();
  auto heads =
      rearrange<"batch seq hidden=(heads head_dim) -> batch heads seq head_dim", Heads, HeadDim>(x);
  struct Key : axis<"key"> {};
  tally const ran;
  tensor scores =
      einsum<"... seq head_dim, ... key head_dim -> ... seq key">(heads, rename<Seq, Key>(heads));
  CHECK(ran.copies() == 0);
  CHECK(ran.packs() == 0);
  CHECK(ran.contractions() == 1);
}

TEST_CASE("one expression in two statements that share a part") {
  tensor x = from<f32, Batch>({1, 2}, Batch{2});
  auto const shared = exp(x);
  auto a = shared + 1;
  auto b = shared * 2;
  tally const ran;
  tensor c = std::move(a) + std::move(b);
  CHECK(ran.passes() == 1);
  CHECK(numbers(c)[0] == doctest::Approx(3 * std::exp(1.0) + 1));
}
