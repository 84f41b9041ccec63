#include "tests/unit/graph/helpers.hpp"
#include "tests/unit/graph/spec.hpp"

#include <limits>

#include <ricci/error/exceptions.hpp>

using namespace graph_test;

namespace {

double const infinity = std::numeric_limits<double>::infinity();

// Keeps axis A of [A, B, C], or A and C.
g::handle over_b(g::reduction op, g::handle const& x) {
  return g::reduce(op, x, axes<A, C>(), 2, dtype::f64);
}
g::handle over_bc(g::reduction op, g::handle const& x) {
  return g::reduce(op, x, axes<A>(), 6, dtype::f64);
}

}  // namespace

TEST_CASE("reductions and their gradients") {
  for (g::reduction op : {g::reduction::sum, g::reduction::mean, g::reduction::max,
                          g::reduction::min, g::reduction::prod, g::reduction::logsumexp}) {
    CAPTURE(static_cast<int>(op));
    g::handle const x = make<A, B, C>({2, 3, 2});
    check_gradients([&](auto const& in) { return over_b(op, in[0]); }, {x});
    check_gradients([&](auto const& in) { return over_bc(op, op_of(opcode::sin, {in[0]})); }, {x});
    check_gradients([&](auto const& in) { return over_bc(op, g::reverse(in[0], 1)); }, {x});
    check_gradients(
        [&](auto const& in) { return g::reduce(op, in[0], {nullptr, 0}, 7, dtype::f64); }, {x});
  }
  check_gradients([&](auto const& in) { return g::cumsum(in[0], 1, dtype::f64); },
                  {make<A, B>({2, 4})});
}

TEST_CASE("special gradients: ties, zeros, rows of -infinity") {
  auto const first = [](g::reduction op, std::vector<double> const& n) {
    g::level const level;
    g::handle const x = g::track(make<A>({static_cast<std::int64_t>(n.size())}, n), level);
    g::handle got;
    g::backward(g::reduce(op, x, {nullptr, 0}, 1, dtype::f64), {}, &x, 1, &got, level);
    return numbers(got);
  };
  check_close(first(g::reduction::max, {1, 3, 3}), {0, 0.5, 0.5});
  check_close(first(g::reduction::min, {1, 3, 1}), {0.5, 0, 0.5});
  check_close(first(g::reduction::prod, {2, 0, 3}), {0, 6, 0});
  check_close(first(g::reduction::prod, {2, 0, 0}), {0, 0, 0});
  check_close(first(g::reduction::logsumexp, {-infinity, -infinity}), {0, 0});
  check_close(first(g::reduction::logsumexp, {-infinity, 0}), {0, 1});
}

TEST_CASE("a pattern reduces over indices of composite axes") {
  small_spec const spec("(ab)(cd)->ac", {{'b', 2}, {'d', 2}}, "reduce");
  g::handle const x = make<A, B>({4, 6});
  auto const f = [&](auto const& in) {
    return g::reduce(g::reduction::max, nullptr, spec.spec, axes<C, D>(), in[0], nullptr,
                     dtype::f64);
  };
  std::vector<double> const n = numbers(x);
  std::vector<double> wanted;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double top = -infinity;
      for (std::size_t k = 0; k < 4; ++k)
        top = std::max(top, n[(2 * i + k / 2) * 6 + 2 * j + k % 2]);
      wanted.push_back(top);
    }
  std::vector<g::handle> const in{x};
  check_close(numbers(f(in)), wanted);
  check_gradients(f, in);
  small_spec const merged("abc->(ca)", {}, "reduce");
  check_gradients(
      [&](auto const& at) {
        return g::reduce(g::reduction::sum, nullptr, merged.spec, axes<D>(), at[0], nullptr,
                         dtype::f64);
      },
      {make<A, B, C>({2, 3, 2})});
  small_spec const renamed("ab->a", {}, "reduce");
  check_gradients(
      [&](auto const& at) {
        return g::reduce(g::reduction::logsumexp, nullptr, renamed.spec, axes<C>(), at[0], nullptr,
                         dtype::f64);
      },
      {make<A, B>({2, 3})});
  small_spec const diagonal("aa->", {}, "reduce");
  check_close(numbers(g::reduce(g::reduction::max, nullptr, diagonal.spec, {nullptr, 0},
                                make<A, B>({2, 2}, {1, 9, 9, 2}), nullptr, dtype::f64)),
              {2});
}

TEST_CASE("an expression is reduced as it is computed") {
  g::handle const x = make<A, B>({50, 4});
  g::counters const before = g::counted();
  g::handle const y =
      g::reduce(g::reduction::sum, op_of(opcode::multiply, {x, x}), {nullptr, 0}, 3, dtype::f64);
  double wanted = 0;
  for (double n : numbers(x)) wanted += n * n;
  check_close(numbers(y), {wanted});
  CHECK(g::counted().loops == before.loops);
  CHECK(g::counted().reductions == before.reductions + 1);
}

TEST_CASE("nothing to reduce, user reductions, integers") {
  g::handle const none = make<A, B>({2, 0});
  check_close(numbers(g::reduce(g::reduction::sum, none, axes<A>(), 2, dtype::f64)), {0, 0});
  CHECK_THROWS_AS(g::reduce(g::reduction::max, none, axes<A>(), 2, dtype::f64), shape_error);
  double const one = 1;
  g::user_reduction const product{&one, [](void* acc, void const* x, std::int64_t count) {
                                    for (std::int64_t i = 0; i < count; ++i)
                                      static_cast<double*>(acc)[i] *=
                                          static_cast<double const*>(x)[i];
                                  }};
  small_spec const spec("ab->a", {}, "reduce");
  g::handle const x = make<A, B>({2, 3}, {1, 2, 3, 4, 5, 6});
  check_close(numbers(g::reduce(g::reduction::user, &product, spec.spec, axes<A>(), x, nullptr,
                                dtype::f64)),
              {6, 120});
  g::handle const small = g::convert(make<A>({300}, std::vector<double>(300, 100)), dtype::i8);
  check_close(numbers(g::reduce(g::reduction::sum, small, {nullptr, 0}, 1, dtype::i64)), {30000});
  g::handle const half = g::convert(make<A>({4096}, std::vector<double>(4096, 1)), dtype::f16);
  check_close(numbers(g::reduce(g::reduction::sum, half, {nullptr, 0}, 1, dtype::f16)), {4096});
  check_close(numbers(g::reduce(g::reduction::argmax, make<A, B>({2, 3}, {1, 3, 3, 0, 0, 0}),
                                axes<A>(), 2, dtype::i64)),
              {1, 0});
}
