// Gradients of the language against central differences in f64: every operation in first order, and in
// second order by differentiating the gradient again.
#include <doctest/doctest.h>

#include <ricci/ricci.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace ricci;

namespace {

struct Row : axis<"row"> {};
struct Col : axis<"col"> {};
struct Diag : axis<"diag"> {};
struct Part : axis<"part"> {};
struct Wide : axis<"wide"> {};
struct New : axis<"new"> {};
struct Out : axis<"out"> {};
struct Query : axis<"query"> {};
struct Key : axis<"key"> {};
struct Head : axis<"head"> {};
struct D : axis<"d"> {};
struct P : axis<"p"> {};
struct Two : axis<"two", 2> {};

/// The same values but for one element.
template <class X> X nudged(X const& x, std::size_t i, double by) {
  std::vector<f64> values(x.values().begin(), x.values().end());
  values[i] += by;
  graph::handle const h = graph::make_leaf(dtype::f64, {X::axes, X::rank}, graph::extents(x.handle()));
  std::copy(values.begin(), values.end(), static_cast<f64*>(graph::mutable_data(h)));
  return X(detail::make_node{}, h);
}

/// A different number for every place, so that no mistake hides in a symmetric sum.
template <class Y> tensor<f64> weighted(Y const& y) {
  tensor t = y;
  using tensor_t = decltype(t);
  tensor_t const w(detail::make_node{},
                   graph::random_normal(dtype::f64, {tensor_t::axes, tensor_t::rank}, graph::extents(t.handle()),
                                        random::key(99), 0.5, 1));
  return sum(t * w);
}

template <class F, class X> void check_first(char const* what, F const& f, X const& x, double tolerance) {
  auto const loss = [&](auto const& v) { return weighted(f(v)); };
  auto [value, gradient] = value_and_grad(loss, x);
  CHECK(value.item() == doctest::Approx(loss(x).item()).epsilon(1e-12));
  double const step = 1e-5;
  for (std::size_t i = 0; i < x.values().size(); ++i) {
    double const expected = (loss(nudged(x, i, step)).item() - loss(nudged(x, i, -step)).item()) / (2 * step);
    INFO(std::string(what), " element ", i, ": ", gradient.values()[i], " instead of ", expected);
    CHECK(std::abs(gradient.values()[i] - expected) <= tolerance * (1 + std::abs(expected)));
  }
}

/// f in first order, and the gradient of f in first order.
template <class F, class X> void check(char const* what, F const& f, X const& x, double tolerance = 1e-7) {
  check_first(what, f, x, tolerance);
  auto const gradient = [&](auto const& v) { return grad([&](auto const& u) { return weighted(f(u)); }, v); };
  check_first(what, gradient, x, tolerance * 10);
}

auto matrix(std::int64_t rows = 3, std::int64_t columns = 4) {
  return random::normal<f64, Row, Col>(random::key(7), Row{rows}, Col{columns});
}
auto positive() {
  tensor x = square(matrix()) + 0.3;
  return x;
}

}  // namespace

TEST_CASE("elementwise functions") {
  tensor const x = matrix();
  check("exp", [](auto const& v) { return exp(v); }, x);
  check("log", [](auto const& v) { return log(v); }, positive());
  check("sqrt", [](auto const& v) { return sqrt(v); }, positive(), 1e-6);
  check("rsqrt", [](auto const& v) { return rsqrt(v); }, positive(), 1e-6);
  check("sin", [](auto const& v) { return sin(v); }, x);
  check("cos", [](auto const& v) { return cos(v); }, x);
  check("tanh", [](auto const& v) { return tanh(v); }, x);
  check("sigmoid", [](auto const& v) { return sigmoid(v); }, x);
  check("erf", [](auto const& v) { return erf(v); }, x);
  check("relu", [](auto const& v) { return relu(v); }, x);
  check("silu", [](auto const& v) { return silu(v); }, x);
  check("gelu", [](auto const& v) { return gelu(v); }, x);
  check("gelu_tanh", [](auto const& v) { return gelu_tanh(v); }, x);
  check("abs", [](auto const& v) { return abs(v); }, x);
  check("square", [](auto const& v) { return square(v); }, x);
  check("reciprocal", [](auto const& v) { return reciprocal(v); }, positive(), 1e-6);
  check("negate", [](auto const& v) { return -v; }, x);
  check("pow", [](auto const& v) { return pow(v, 3); }, x);
  check("pow in both", [](auto const& v) { return pow(v, v); }, positive(), 1e-6);
  check("clamp", [](auto const& v) { return clamp(v, -0.5, 0.6); }, x);
  check("minimum", [](auto const& v) { return minimum(v, sin(v)); }, x);
  check("maximum", [](auto const& v) { return maximum(v * v, v); }, x);
  check("where", [](auto const& v) { return where(v > 0, v * v, exp(v)); }, x);
  check("a long statement", [](auto const& v) { return gelu(v * 2 + sin(v)) / (1 + square(v)) - v; }, x);
}

TEST_CASE("operators broadcast, their gradients sum") {
  tensor const x = matrix();
  tensor const b = random::normal<f64, Col>(random::key(8), Col{4});
  check("bias", [&](auto const& v) { return tanh(x * v) + v; }, b);
  check("x + b", [&](auto const& v) { return square(v + b) * b; }, x);
  check("scalar", [&](auto const& v) { return x * v + v; }, random::normal<f64>(random::key(3)));
  check("divide", [&](auto const& v) { return x / v; }, positive(), 1e-6);
}

TEST_CASE("contractions") {
  tensor const x = matrix();
  tensor const w = random::normal<f64, Col, Out>(random::key(8), Col{4}, Out{2});
  check("left", [&](auto const& v) { return square(einsum<"row col, col out -> row out">(v, w)); }, x);
  check("right", [&](auto const& v) { return square(einsum<"row col, col out -> out row">(x, v)); }, w);
  check("both", [](auto const& v) { return einsum<"row=i col, row=j col -> row=i wide=j", Wide>(v, v); }, x);
  check("trace", [](auto const& v) { return einsum<"row=i col=i -> ">(v); }, matrix(3, 3));
  check("diagonal", [](auto const& v) { return square(einsum<"row=i col=i -> row=i">(v)); }, matrix(3, 3));
  check("one operand only", [&](auto const& v) { return einsum<"row col, col out -> out">(v, w); }, x);
  check("three operands", [&](auto const& v) { return einsum<"row col, col out, row wide -> wide out">(v, w, rename<Col, Wide>(v)); }, x);
  check("bias and activation", [&](auto const& v) { return gelu(einsum<"row col, col out -> row out">(v, w) + at<Col>(w, 1)); }, x);
  check("batched", [](auto const& v) {
    auto const split = rearrange<"row=(two part) col -> two part col", Two, Part>(v);
    return einsum<"two part col, two wide=q col -> two part wide=q", Wide>(split, rename<Part, Wide>(split));
  }, matrix(4, 3));
  check("dot", [&](auto const& v) { return dot<Col>(v, w); }, x);
  check("outer", [](auto const& v) { return outer(at<Row>(v, 0), rename<Col, Out>(at<Row>(v, 1))); }, x);
}

TEST_CASE("reductions") {
  tensor const x = matrix();
  check("sum", [](auto const& v) { return square(sum<Row>(v)); }, x);
  check("mean", [](auto const& v) { return square(mean<Col>(v)); }, x);
  check("max", [](auto const& v) { return square(max<Col>(v)); }, x);
  check("min", [](auto const& v) { return square(min<Row>(v)); }, x);
  check("prod", [](auto const& v) { return prod<Col>(v); }, x, 1e-6);
  check("logsumexp", [](auto const& v) { return logsumexp<Col>(v); }, x);
  check("cumsum", [](auto const& v) { return square(cumsum<Col>(v)); }, x);
  check("softmax", [](auto const& v) { return softmax<Col>(v); }, x);
  check("softmax of an outer axis", [](auto const& v) { return softmax<Row>(v); }, x);
  check("log_softmax", [](auto const& v) { return log_softmax<Col>(v); }, x);
  check("pooling", [](auto const& v) { return reduce<op::mean, "row=(part 2) col -> part col", Part>(square(v)); }, matrix(4, 3));
  check("normalization by hand", [](auto const& v) {
    tensor centred = v - mean<Col>(v);
    return centred * rsqrt(mean<Col>(square(centred)) + 1e-5);
  }, x, 1e-6);
}

TEST_CASE("views, joins, gathers") {
  tensor const x = matrix();
  check("permute", [](auto const& v) { return square(permute<Col, Row>(v)); }, x);
  check("at", [](auto const& v) { return square(at<Row>(v, 1)); }, x);
  check("slice", [](auto const& v) { return square(slice<Col>(v, 1, 2)); }, x);
  check("stepped slice", [](auto const& v) { return square(slice<Col>(v, 0, 2, 3)); }, x);
  check("reverse", [](auto const& v) { return reverse<Col>(v) * v; }, x);
  check("diagonal", [](auto const& v) { return square(diagonal<Row, Col, Diag>(v)); }, matrix(3, 3));
  check("broadcast", [](auto const& v) { return square(broadcast<New>(v, New{3})); }, x);
  check("repeat", [](auto const& v) { return square(repeat<"row col -> new row col", New>(v, New{2})); }, x);
  check("rearrange", [](auto const& v) { return square(rearrange<"row col -> wide=(col row)", Wide>(v)); }, x);
  check("concat", [](auto const& v) { return square(concat<Row>(v, v * 2)); }, x);
  check("stack", [](auto const& v) { return square(stack<New>(v, exp(v), v)); }, x);
  tensor const ids = from<i32, Out>({2, 0, 2, 2, 1}, Out{5});
  check("take", [&](auto const& v) { return square(take<Row>(v, ids)); }, x);
}

TEST_CASE("operations with kernels of their own") {
  tensor const x = matrix();
  tensor const scale = random::normal<f64, Col>(random::key(5), Col{4});
  tensor const bias = random::normal<f64, Col>(random::key(6), Col{4});
  check("layer_norm", [&](auto const& v) { return layer_norm<Col>(v, scale, bias); }, x, 1e-6);
  check("layer_norm in its scale", [&](auto const& v) { return square(layer_norm<Col>(x, v, bias)); }, scale, 1e-6);
  check("layer_norm in its bias", [&](auto const& v) { return square(layer_norm<Col>(x, scale, v)); }, bias, 1e-6);
  check("rms_norm", [&](auto const& v) { return rms_norm<Col>(v, scale); }, x, 1e-6);
  tensor const targets = from<i32, Row>({3, 0, 1}, Row{3});
  check("cross_entropy", [&](auto const& v) { return cross_entropy<Col>(v, targets); }, x);
  check("mse", [&](auto const& v) { return mse(v, sin(v)); }, x);

  tensor const q = random::normal<f64, Query, Head, D>(random::key(1), Query{5}, Head{2}, D{3});
  tensor const k = random::normal<f64, Key, Head, D>(random::key(2), Key{5}, Head{2}, D{3});
  tensor const v = random::normal<f64, Key, Head, D>(random::key(3), Key{5}, Head{2}, D{3});
  for (mask const seen : {mask::none, mask::causal}) {
    check("attention in q", [&](auto const& u) { return attention<Query, Key, D>(u, k, v, seen); }, q, 1e-6);
    check("attention in k", [&](auto const& u) { return attention<Query, Key, D>(q, u, v, seen); }, k, 1e-6);
    check("attention in v", [&](auto const& u) { return attention<Query, Key, D>(q, k, u, seen); }, v, 1e-6);
  }
}

TEST_CASE("stop_gradient, custom_vjp, vjp") {
  tensor const x = matrix();
  tensor g = grad([](auto const& v) { return sum(v * stop_gradient(v)); }, x);
  for (std::size_t i = 0; i < 12; ++i) CHECK(g.values()[i] == x.values()[i]);
  // A rule that says something else than the derivative is believed.
  tensor c = grad([](auto const& v) {
    return sum(custom_vjp([](auto const& u) { return square(u); }, [](auto const& u, auto const& y, auto const& dy) { return dy * (u + y); }, v));
  }, x);
  for (std::size_t i = 0; i < 12; ++i) {
    double const u = x.values()[i];
    CHECK(c.values()[i] == doctest::Approx(u + u * u));
  }
  auto [y, pullback] = vjp([](auto const& v) { return square(v); }, x);
  tensor dx = pullback(y);
  for (std::size_t i = 0; i < 12; ++i) CHECK(dx.values()[i] == doctest::Approx(2 * std::pow(x.values()[i], 3)));
  CHECK_THROWS_AS((void)pullback(y), value_error);
}

TEST_CASE("recompute: the same bits, dropout included") {
  struct Width : axis<"width", 16> {};
  nn::gelu_mlp<f32, Width, Wide> block;
  initialize(block, random::key(2), Wide{64});
  tensor const x = random::normal<f32, Row, Width>(random::key(4), Row{8});
  random::key const key(11);
  auto const plain = [&](auto const& m, auto const& v) {
    tensor h = nn::dropout(m(v), 0.3, key.fold("dropout"));
    return mean(square(h + v));
  };
  auto const checkpointed = [&](auto const& m, auto const& v) {
    tensor h = recompute([&](auto const& u) { return nn::dropout(m(u), 0.3, key.fold("dropout")); }, v);
    return mean(square(h + v));
  };
  auto [a, ga] = value_and_grad(plain, block, x);
  auto [b, gb] = value_and_grad(checkpointed, block, x);
  CHECK(a.item() == b.item());
  auto const same = [](auto const& p, auto const& q) {
    return std::equal(p.values().begin(), p.values().end(), q.values().begin(), q.values().end());
  };
  CHECK(same(ga.up.weight, gb.up.weight));
  CHECK(same(ga.up.bias, gb.up.bias));
  CHECK(same(ga.down.weight, gb.down.weight));
  CHECK(same(ga.down.bias, gb.down.bias));
  tensor gx = grad([&](auto const& v) { return plain(block, v); }, x);
  tensor gy = grad([&](auto const& v) { return checkpointed(block, v); }, x);
  CHECK(same(gx, gy));
}
