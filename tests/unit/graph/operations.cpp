#include "tests/unit/graph/helpers.hpp"

#include <limits>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/random.hpp>
#include <ricci/tensor/storage.hpp>

using namespace graph_test;

namespace {

double const infinity = std::numeric_limits<double>::infinity();

g::handle integers(std::vector<double> const& n, g::axes_view axes,
                   std::vector<std::int64_t> const& e) {
  g::handle x = g::make_leaf(dtype::i32, axes, e.data());
  for (std::size_t i = 0; i < n.size(); ++i)
    static_cast<std::int32_t*>(g::mutable_data(x))[i] = static_cast<std::int32_t>(n[i]);
  return x;
}

}  // namespace

TEST_CASE("softmax and log_softmax along any axis") {
  g::handle const x = make<A, B, C>({2, 3, 2});
  for (int axis = 0; axis < 3; ++axis) {
    CAPTURE(axis);
    check_gradients([&](auto const& in) { return g::softmax(in[0], axis); }, {x});
    check_gradients([&](auto const& in) { return g::log_softmax(in[0], axis); }, {x});
    check_gradients([&](auto const& in) { return g::softmax(op_of(opcode::sin, {in[0]}), axis); },
                    {x});
  }
  check_close(numbers(g::softmax(make<A>({2}, {0, std::log(3.0)}), 0)), {0.25, 0.75});
  check_close(numbers(g::softmax(make<A>({2}, {-infinity, -infinity}), 0)), {0, 0});
}

TEST_CASE("layer_norm and rms_norm along any axis") {
  g::handle const x = make<A, B>({3, 4});
  g::handle const scale = make<B>({4}, 0.5, 1.5);
  g::handle const bias = make<B>({4});
  std::vector<g::handle> const all{x, scale, bias};
  check_gradients([](auto const& in) { return g::layer_norm(in[0], in[1], in[2], 1, 1e-3); }, all);
  check_gradients([](auto const& in) { return g::layer_norm(in[0], in[1], {}, 1, 1e-3); },
                  {x, scale});
  check_gradients([](auto const& in) { return g::layer_norm(in[0], {}, {}, 0, 1e-3); }, {x});
  check_gradients(
      [](auto const& in) { return g::layer_norm(op_of(opcode::sin, {in[0]}), {}, in[1], 1, 1e-3); },
      {x, bias});
  check_gradients([](auto const& in) { return g::rms_norm(in[0], in[1], 1, 1e-3); }, {x, scale});
  check_gradients([](auto const& in) { return g::rms_norm(in[0], {}, 0, 1e-3); }, {x});
  CHECK_THROWS_AS(g::layer_norm(x, make<B>({5}), {}, 1, 1e-5), shape_error);
  // Against the definition.
  std::vector<double> const n = numbers(x);
  std::vector<double> wanted;
  for (std::size_t r = 0; r < 3; ++r) {
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < 4; ++c) mean += n[4 * r + c] / 4;
    for (std::size_t c = 0; c < 4; ++c)
      variance += (n[4 * r + c] - mean) * (n[4 * r + c] - mean) / 4;
    for (std::size_t c = 0; c < 4; ++c)
      wanted.push_back((n[4 * r + c] - mean) / std::sqrt(variance + 1e-3));
  }
  check_close(numbers(g::layer_norm(x, {}, {}, 1, 1e-3)), wanted);
}

TEST_CASE("cross_entropy along any axis, targets in any order of axes") {
  g::handle const x = make<A, B, C>({2, 3, 2});
  g::handle const targets = integers({0, 2, 1, 1}, axes<A, C>(), {2, 2});
  auto const f = [&](auto const& in) { return g::cross_entropy(in[0], targets, axes<A, C>(), 1); };
  check_gradients(f, {x});
  check_gradients(
      [&](auto const& in) {
        return g::cross_entropy(op_of(opcode::sin, {in[0]}), targets, axes<A, C>(), 1);
      },
      {x});
  std::int8_t const swap[] = {1, 0};
  g::handle const turned = g::packed(g::permute(targets, axes<C, A>(), swap));
  check_close(numbers(g::cross_entropy(x, turned, axes<A, C>(), 1)),
              numbers(f(std::vector<g::handle>{x})));
  std::vector<double> const n = numbers(x);
  double sum = 0;
  for (std::size_t b = 0; b < 3; ++b) sum += std::exp(n[2 * b]);
  CHECK(std::abs(numbers(f(std::vector<g::handle>{x}))[0] - (std::log(sum) - n[0])) < 1e-12);
  CHECK_THROWS_AS(g::evaluate(g::cross_entropy(x, integers({0, 3, 1, 1}, axes<A, C>(), {2, 2}),
                                               axes<A, C>(), 1)),
                  index_error);
  CHECK_THROWS_AS(g::cross_entropy(x, integers({0, 1}, axes<A, C>(), {2, 1}), axes<A, C>(), 1),
                  shape_error);
}

TEST_CASE("the gradient of cross_entropy takes the place of logits that nobody else has") {
  g::level const level;
  g::handle const x = g::track(make<A, B>({64, 128}), level);
  g::handle const targets = integers(std::vector<double>(64, 5), axes<A>(), {64});
  g::handle const loss = g::reduce(
      g::reduction::sum, g::cross_entropy(op_of(opcode::add, {x, x}), targets, axes<A>(), 1),
      {nullptr, 0}, 1, dtype::f64);
  g::evaluate(loss);
  memory::reset_peak();
  std::int64_t const before = memory::peak();
  g::handle got;
  g::backward(loss, {}, &x, 1, &got, level);
  // Two of that size: the gradient of the logits is the logits', the sum of both paths is new.
  CHECK(memory::peak() - before <= 2 * 64 * 128 * 8 + 4096);
  check_gradients(
      [&](auto const& in) {
        return g::cross_entropy(op_of(opcode::tanh, {in[0]}), integers({1, 0}, axes<A>(), {2}),
                                axes<A>(), 1);
      },
      {make<A, B>({2, 3})});
}

TEST_CASE("take") {
  g::handle const table = make<A, B>({4, 2}, {0, 1, 10, 11, 20, 21, 30, 31});
  g::handle const ids = integers({3, 0, 3}, axes<C>(), {3});
  check_close(numbers(g::take(table, ids, axes<C, B>(), 0)), {30, 31, 0, 1, 30, 31});
  check_gradients([&](auto const& in) { return g::take(in[0], ids, axes<C, B>(), 0); }, {table});
  check_gradients(
      [&](auto const& in) { return op_of(opcode::square, {g::take(in[0], ids, axes<B, C>(), 1)}); },
      {make<B, A>({2, 4})});
  g::handle const two = integers({0, 1, 1, 0}, axes<C, D>(), {2, 2});
  CHECK(numbers(g::take(table, two, axes<C, D, B>(), 0)).size() == 8);
  CHECK_THROWS_AS(g::evaluate(g::take(table, integers({4}, axes<C>(), {1}), axes<C, B>(), 0)),
                  index_error);
}

TEST_CASE("attention, its gradients, and heads that are views of one axis") {
  for (bool causal : {false, true}) {
    CAPTURE(causal);
    auto const f = [&](auto const& in) { return g::attention(in[0], in[1], in[2], 0.7, causal); };
    check_gradients(f, {make<A, B, C, E>({2, 2, 3, 2}), make<A, B, D, E>({2, 2, 4, 2}),
                        make<A, B, D, E>({2, 2, 4, 2})});
    check_gradients(f, {make<C, E>({3, 2}), make<D, E>({3, 2}), make<D, E>({3, 2})});
    check_gradients(f,
                    {make<A, C, E>({2, 3, 2}), make<A, D, E>({2, 3, 2}), make<A, D, E>({2, 3, 2})});
  }
  // q k v as slices of one value, heads behind the positions.
  std::int8_t const order[] = {1, 0, 2};
  struct Three : axis<"three"> {};
  auto const f = [&](auto const& in) {
    auto const part = [&](int i) {
      return g::permute(g::at(in[0], axes<C, B, E>(), 1, i), axes<B, C, E>(), order);
    };
    g::handle const y = g::attention(part(0), g::rename(part(1), axes<B, D, E>()),
                                     g::rename(part(2), axes<B, D, E>()), 0, true);
    return g::permute(y, axes<C, B, E>(), order);
  };
  std::vector<g::handle> const x{make<C, Three, B, E>({4, 3, 2, 3})};
  check_gradients(f, x);
  g::counters const before = g::counted();
  g::handle const y = f(x);
  g::evaluate(y);
  CHECK(g::packed(y).get() == y.get());
  CHECK(g::counted().copies == before.copies);
  // Against the definition, one head.
  std::vector<double> const n = numbers(x[0]), got = numbers(y);
  auto const at = [&](std::size_t s, std::size_t which, std::size_t d) {
    return n[(s * 3 + which) * 6 + d];
  };
  for (std::size_t i = 0; i < 4; ++i) {
    double total = 0, sum[3] = {};
    for (std::size_t j = 0; j <= i; ++j) {
      double dot = 0;
      for (std::size_t d = 0; d < 3; ++d) dot += at(i, 0, d) * at(j, 1, d);
      double const p = std::exp(dot / std::sqrt(3.0));
      total += p;
      for (std::size_t d = 0; d < 3; ++d) sum[d] += p * at(j, 2, d);
    }
    for (std::size_t d = 0; d < 3; ++d) CHECK(std::abs(got[i * 6 + d] - sum[d] / total) < 1e-10);
  }
}

TEST_CASE("random values are those of their key") {
  std::int64_t const e[] = {3, 4};
  random::key const key(7);
  check_close(numbers(g::random_normal(dtype::f32, axes<A, B>(), e, key, 0, 1)),
              numbers(g::random_normal(dtype::f32, axes<A, B>(), e, key, 0, 1)));
  for (double n : numbers(g::random_uniform(dtype::f64, axes<A, B>(), e, key, 2, 3)))
    CHECK((n >= 2 && n < 3));
  double sum = 0;
  for (double n : numbers(g::random_permutation(dtype::i64, axes<A>(), e + 1, key))) sum += n;
  CHECK(sum == 6);
}
