#include "tests/unit/graph/helpers.hpp"
#include "tests/unit/graph/spec.hpp"

using namespace graph_test;

namespace {

struct rule final : g::callback {
  explicit rule(std::function<g::handle(g::handle const&, g::handle const&, g::handle const&)> f)
      : f(std::move(f)) {}
  std::function<g::handle(g::handle const&, g::handle const&, g::handle const&)> f;
  g::handle call(g::handle const& x, g::handle const& y, g::handle const& dy) override {
    return f(x, y, dy);
  }
};

g::handle gradient_of(g::handle const& y, g::handle const& x, g::level const& level) {
  g::handle got;
  g::backward(y, {}, &x, 1, &got, level);
  return got;
}

}  // namespace

TEST_CASE("what nobody differentiates keeps no history") {
  g::handle const x = make<A>({1000});
  std::int64_t const before = memory::live();
  g::handle y = x;
  for (int i = 0; i < 10; ++i) {
    y = op_of(opcode::add, {y, number(1)});
    g::evaluate(y);
  }
  CHECK(memory::live() - before == 8000);
}

TEST_CASE("history is freed while the gradient is computed, and when its level closes") {
  g::handle const x = make<A>({1000});
  std::int64_t const before = memory::live();
  g::handle kept;
  {
    g::level const level;
    g::handle const leaf = g::track(x, level);
    g::handle y = leaf;
    for (int i = 0; i < 10; ++i) {
      y = op_of(opcode::sin, {y});
      g::evaluate(y);
    }
    CHECK(memory::live() - before == 80000);
    memory::reset_peak();
    g::handle const got = gradient_of(y, leaf, level);
    CHECK(memory::peak() - before <= 96000);
    CHECK(memory::live() - before == 16000);  // y and the gradient
    CHECK(memory::live(role::gradient) == 8000);
    y = leaf;
    for (int i = 0; i < 5; ++i) {
      y = op_of(opcode::sin, {y});
      g::evaluate(y);
    }
    kept = y;
  }
  CHECK(memory::live() - before == 8000);
  kept = {};
  CHECK(memory::live() == before);
}

TEST_CASE("a long chain is released without recursion") {
  g::level const level;
  g::handle const leaf = g::track(make<A>({1}, std::vector<double>{0.5}), level);
  g::handle y = leaf;
  for (int i = 0; i < 200000; ++i) {
    y = op_of(opcode::add, {y, leaf});
    g::evaluate(y);
  }
  check_close(numbers(gradient_of(y, leaf, level)), {200001});
  g::handle lazy = make<A>({1}, std::vector<double>{0.5});
  for (int i = 0; i < 200000; ++i) lazy = g::reverse(op_of(opcode::negate, {lazy}), 0);
  lazy = {};
}

TEST_CASE("a value that does not depend on a leaf has the gradient zero") {
  g::level const level;
  g::handle const leaves[] = {g::track(make<A>({2}), level), g::track(make<B>({3}), level)};
  g::handle got[2];
  g::backward(op_of(opcode::square, {leaves[0]}), {}, leaves, 2, got, level);
  check_close(numbers(got[1]), {0, 0, 0});
  CHECK(g::data(got[0]) != nullptr);
}

TEST_CASE("seeds, the same leaf twice, y itself a leaf") {
  g::level const level;
  g::handle const x = g::track(make<A>({2}, {3, 4}), level);
  g::handle const leaves[] = {x, x};
  g::handle got[2];
  g::backward(op_of(opcode::square, {x}), make<A>({2}, {1, 10}), leaves, 2, got, level);
  check_close(numbers(got[0]), {6, 80});
  check_close(numbers(got[1]), {6, 80});
  CHECK(g::data(got[0]) != g::data(got[1]));
  g::backward(x, make<A>({2}, {1, 10}), leaves, 1, got, level);
  check_close(numbers(got[0]), {1, 10});
}

TEST_CASE("stop_gradient stops") {
  g::level const level;
  g::handle const x = g::track(make<A>({2}, {3, 4}), level);
  check_close(numbers(gradient_of(op_of(opcode::multiply, {x, g::stop_gradient(x)}), x, level)),
              {3, 4});
}

TEST_CASE("levels nest: a gradient inside a gradient, of the same and of other values") {
  // f(x) = sum of x * d/dz (sum of z^3 x)(at z = x) = sum of 3 x^4
  function const f = [](auto const& in) {
    g::level const inner;
    g::handle const z = g::track(in[0], inner);
    g::handle const cube =
        op_of(opcode::multiply, {op_of(opcode::multiply, {z, op_of(opcode::square, {z})}), in[0]});
    return op_of(opcode::multiply, {in[0], gradient_of(cube, z, inner)});
  };
  g::handle const x = make<A>({4});
  std::vector<double> wanted;
  for (double n : numbers(x)) wanted.push_back(3 * n * n * n * n);
  check_close(numbers(f({x})), wanted);
  check_gradients(f, {x});
}

TEST_CASE("first-order gradients record nothing") {
  g::level const level;
  g::handle const x = g::track(make<A>({4}), level);
  g::handle const got = gradient_of(op_of(opcode::exp, {op_of(opcode::sin, {x})}), x, level);
  g::handle again;
  g::backward(got, {}, &x, 1, &again, level);
  check_close(numbers(again), {0, 0, 0, 0});
}

TEST_CASE("the gradient of a fused statement is a fused statement") {
  g::level const level;
  g::handle const x = g::track(make<A>({100}), level);
  g::handle const y =
      op_of(opcode::sin, {op_of(opcode::multiply, {op_of(opcode::exp, {x}), number(2)})});
  std::int64_t const loops = g::counted().loops;
  g::evaluate(y);
  CHECK(g::counted().loops == loops + 1);
  g::handle const got = gradient_of(y, x, level);
  // One for the seed of ones at most, one for the rest.
  CHECK(g::counted().loops <= loops + 3);
  CHECK(g::dtype_of(got) == dtype::f64);
}

TEST_CASE("gradients that read the same are computed in one loop") {
  g::level const level;
  g::handle const leaves[] = {g::track(make<A>({100}), level),
                              g::track(make<A>({100}, 0.1, 2), level)};
  auto const statement = [](g::handle x) {
    g::evaluate(x);
    return x;
  };
  g::handle const u = statement(op_of(opcode::sin, {leaves[0]}));
  g::handle const v = statement(op_of(opcode::sin, {leaves[1]}));
  g::handle const y = statement(op_of(opcode::multiply, {op_of(opcode::silu, {u}), v}));
  std::int64_t const loops = g::counted().loops;
  g::handle got[2];
  g::backward(y, make<A>({100}), leaves, 2, got, level);
  CHECK(g::counted().loops == loops + 3);  // of u and v at once, of each leaf
}

TEST_CASE("custom_vjp") {
  function const f = [](auto const& in) {
    g::handle const x = op_of(opcode::square, {in[0]});
    g::handle const y = op_of(opcode::sin, {g::stop_gradient(x)});
    return g::custom_vjp(x, y, new rule([](auto const& at, auto const&, auto const& dy) {
                           return op_of(opcode::multiply, {dy, op_of(opcode::cos, {at})});
                         }));
  };
  check_gradients(f, {make<A>({4})});
}

TEST_CASE("recompute: the same bits, less memory, captured values included") {
  small_spec const spec("ab,bc->ac");
  g::handle const x0 = make<A, B>({8, 16});
  g::handle const w0 = make<B, C>({16, 16});
  auto const body = [&](g::handle const& x, g::handle const& w) {
    g::handle y = x;
    for (int i = 0; i < 4; ++i) {
      g::handle const in[] = {y, w};
      y = g::rename(op_of(opcode::tanh, {g::einsum(spec.spec, axes<A, C>(), in, nullptr)}),
                    axes<A, B>());
      g::evaluate(y);
    }
    return y;
  };
  function const plain = [&](auto const& in) { return body(in[0], in[1]); };
  function const again = [&](auto const& in) {
    g::handle const w = in[1];
    return g::recompute(in[0], new rule([&body, w](auto const& x, auto const&, auto const&) {
                          return body(x, w);
                        }));
  };
  std::vector<g::handle> const x{x0, w0};
  std::vector<g::handle> const one = gradients(plain, x), two = gradients(again, x);
  for (std::size_t i = 0; i < 2; ++i) CHECK(numbers(one[i]) == numbers(two[i]));
  check_gradients(again, {make<A, B>({1, 16}), w0}, false);
  small_spec const small("ab,bc->ac");
  std::vector<g::handle> const little{make<A, B>({2, 2}), make<B, C>({2, 2})};
  check_gradients(again, little);
  std::int64_t const before = memory::live();
  g::level const level;
  std::vector<g::handle> const leaves{g::track(x0, level), g::track(w0, level)};
  g::handle const y = again(leaves);
  CHECK(memory::live() - before == 8 * 16 * 8);
}

TEST_CASE("narrow floats: gradients in their dtype, sums in f32") {
  g::level const level;
  g::handle const x =
      g::track(g::convert(make<A>({512}, std::vector<double>(512, 1)), dtype::bf16), level);
  g::handle const k =
      g::track(g::convert(make<B>({1}, std::vector<double>{1}), dtype::bf16), level);
  g::handle const y = g::reduce(g::reduction::sum, x, {nullptr, 0}, 1, dtype::bf16);
  CHECK(numbers(y)[0] == 512);
  CHECK(g::dtype_of(gradient_of(y, x, level)) == dtype::bf16);
  g::handle const product =
      op_of(opcode::multiply, {g::broadcast(x, axes<B, A>(), 1, g::extents(k)), k});
  check_close(numbers(gradient_of(product, k, level)), {512});
}
