#include "tests/unit/graph/helpers.hpp"

#include <ricci/error/exceptions.hpp>

using namespace graph_test;

TEST_CASE("a fused statement is one loop and equals nested loops") {
  g::handle const a = make<A, B>({3, 4});
  g::handle const b = make<B>({4});
  std::int64_t const loops = g::counted().loops;
  g::handle const y =
      op_of(opcode::add, {op_of(opcode::multiply, {a, b}), op_of(opcode::exp, {a})});
  CHECK(!g::is_evaluated(y));
  std::vector<double> const got = numbers(y);
  CHECK(g::counted().loops == loops + 1);
  std::vector<double> const an = numbers(a), bn = numbers(b);
  std::vector<double> wanted;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      wanted.push_back(an[4 * i + j] * bn[j] + std::exp(an[4 * i + j]));
  check_close(got, wanted);
}

TEST_CASE("axes are matched by name, not by place") {
  g::handle const a = make<A, B>({2, 3}, {0, 1, 2, 3, 4, 5});
  g::handle const b = make<B, A>({3, 2}, {0, 10, 20, 30, 40, 50});
  check_close(numbers(op_of(opcode::add, {a, b})), {0, 21, 42, 13, 34, 55});
}

TEST_CASE("what is broadcast is computed once, by itself") {
  g::handle const a = make<A, B>({30, 4});
  g::handle const b = make<B>({4});
  std::int64_t const loops = g::counted().loops;
  g::evaluate(op_of(opcode::add, {a, op_of(opcode::exp, {b})}));
  CHECK(g::counted().loops == loops + 2);
}

TEST_CASE("extents of one axis that differ are refused with both shapes") {
  g::handle const a = make<A, B>({3, 4});
  g::handle const b = make<B>({5});
  CHECK_THROWS_WITH_AS(op_of(opcode::add, {a, b}),
                       "test: axis `b` has extent 4 in operand 1 and 5 in operand 2; operand 1 is "
                       "[a 3, b 4], operand 2 is [b 5]",
                       shape_error);
  CHECK_THROWS_AS(op_of(opcode::add, {make<A, B>({1, 4}), make<A, B>({3, 4})}), shape_error);
  CHECK_THROWS_AS(g::evaluate({}), value_error);
}

TEST_CASE("a chain longer than a program is split, a deep one too") {
  g::handle const a = make<A>({5});
  g::handle y = a;
  for (int i = 0; i < 1000; ++i) y = op_of(opcode::add, {y, number(1.0 + i % 3)});
  std::vector<double> wanted = numbers(a);
  for (double& w : wanted)
    for (int i = 0; i < 1000; ++i) w += 1.0 + i % 3;
  check_close(numbers(y), wanted);
  // More operands than a program takes.
  g::handle sum = make<A>({5}, {0, 0, 0, 0, 0});
  for (int i = 0; i < 100; ++i) sum = op_of(opcode::add, {sum, make<A>({5}, {1, 2, 3, 4, 5})});
  check_close(numbers(sum), {100, 200, 300, 400, 500});
}

TEST_CASE("a shared value is computed once within a statement") {
  g::handle const a = make<A>({4}, 0.5, 1.5);
  g::handle y = a;
  for (int i = 0; i < 40; ++i)
    y = op_of(opcode::multiply, {op_of(opcode::sqrt, {y}), op_of(opcode::sqrt, {y})});
  check_close(numbers(y), numbers(a), 1e-9);
}

TEST_CASE("extents of 0 and 1") {
  g::handle const none = make<A, B>({0, 3});
  g::handle const b = make<B>({3});
  CHECK(numbers(op_of(opcode::add, {none, op_of(opcode::exp, {b})})).empty());
  g::handle const one = make<A, B>({1, 1}, std::vector<double>{2});
  check_close(numbers(op_of(opcode::multiply, {one, number(3)})), {6});
}

TEST_CASE("a number, a filled value and positions are values like others") {
  std::int64_t const extents[] = {2, 3};
  check_close(numbers(g::full(dtype::f64, axes<A, B>(), extents, 2.5, 0)),
              {2.5, 2.5, 2.5, 2.5, 2.5, 2.5});
  check_close(numbers(g::full(dtype::i32, axes<A, B>(), extents, 0, 7)), {7, 7, 7, 7, 7, 7});
  check_close(numbers(g::iota(dtype::i32, axes<A, B>(), extents, 0)), {0, 0, 0, 1, 1, 1});
  check_close(numbers(g::iota(dtype::f32, axes<A, B>(), extents, 1)), {0, 1, 2, 0, 1, 2});
  check_close(numbers(number(4)), {4});
}

TEST_CASE("gradients of every operation of one operand, to second order") {
  struct one {
    opcode op;
    double low, high;
  };
  one const all[] = {
      {opcode::negate, -1, 1},       {opcode::absolute, -1, 1},    {opcode::sign, -1, 1},
      {opcode::square, -1, 1},       {opcode::reciprocal, 0.5, 2}, {opcode::sqrt, 0.5, 2},
      {opcode::rsqrt, 0.5, 2},       {opcode::exp, -1, 1},         {opcode::log, 0.5, 2},
      {opcode::sin, -2, 2},          {opcode::cos, -2, 2},         {opcode::tanh, -2, 2},
      {opcode::sigmoid, -2, 2},      {opcode::erf, -2, 2},         {opcode::relu, -1, 1},
      {opcode::silu, -3, 3},         {opcode::gelu_tanh, -3, 3},   {opcode::gelu_erf, -3, 3},
      {opcode::relu_grad, -1, 1},    {opcode::silu_grad, -3, 3},   {opcode::gelu_tanh_grad, -3, 3},
      {opcode::gelu_erf_grad, -3, 3}};
  for (one const& o : all) {
    CAPTURE(facts_of(o.op).name);
    check_gradients([&](auto const& x) { return op_of(o.op, x); }, {make<A>({7}, o.low, o.high)});
  }
}

TEST_CASE("gradients of operations of two and three operands, broadcast included") {
  for (opcode op : {opcode::add, opcode::subtract, opcode::multiply, opcode::divide, opcode::power,
                    opcode::minimum, opcode::maximum}) {
    CAPTURE(facts_of(op).name);
    auto const f = [&](auto const& x) { return op_of(op, x); };
    check_gradients(f, {make<A, B>({2, 3}, 0.5, 2), make<A, B>({2, 3}, 0.6, 1.7)});
    check_gradients(f, {make<A, B>({2, 3}, 0.5, 2), make<A>({2}, 0.6, 1.7)});
    check_gradients(f, {make<B>({3}, 0.5, 2), make<A, B>({2, 3}, 0.6, 1.7)});
    check_gradients(f, {make<A, B>({2, 3}, 0.5, 2), make<B, A>({3, 2}, 0.6, 1.7)});
  }
  check_gradients([](auto const& x) { return op_of(opcode::fma, x); },
                  {make<A, B>({2, 3}), make<B>({3}), make<A>({2}, 0.1, 2)});
  check_gradients([](auto const& x) { return op_of(opcode::clamp, x); },
                  {make<A, B>({3, 3}), make<B>({3}, -0.7, -0.6), make<A>({3}, 0.6, 0.7)});
  check_gradients(
      [](auto const& x) {
        return op_of(opcode::where, {op_of(opcode::less, {x[0], number(0)}), x[0], x[1]});
      },
      {make<A, B>({3, 3}), make<B>({3})});
}

TEST_CASE("subgradients are PyTorch's") {
  auto const at = [](opcode op, std::vector<double> const& a, std::vector<double> const& b) {
    std::vector<g::handle> x{make<A>({static_cast<std::int64_t>(a.size())}, a)};
    if (!b.empty()) x.push_back(make<A>({static_cast<std::int64_t>(b.size())}, b));
    g::level const level;
    std::vector<g::handle> leaves;
    for (auto const& one : x) leaves.push_back(g::track(one, level));
    std::vector<g::handle> got(x.size());
    g::backward(op_of(op, leaves), {}, leaves.data(), static_cast<int>(x.size()), got.data(),
                level);
    std::vector<std::vector<double>> result;
    for (auto const& one : got) result.push_back(numbers(one));
    return result;
  };
  check_close(at(opcode::relu, {-1, 0, 2}, {})[0], {0, 0, 1});
  check_close(at(opcode::absolute, {-1, 0, 2}, {})[0], {-1, 0, 1});
  auto const ties = at(opcode::maximum, {1, 2, 3}, {2, 2, 2});
  check_close(ties[0], {0, 0.5, 1});
  check_close(ties[1], {1, 0.5, 0});
  // The exponent is a constant: no logarithm of a negative base.
  g::level const level;
  g::handle const x = g::track(make<A>({3}, {-2, 0, 2}), level);
  g::handle got;
  g::backward(op_of(opcode::power, {x, number(3)}), {}, &x, 1, &got, level);
  check_close(numbers(got), {12, 0, 12});
  g::handle const edges = g::track(make<A>({4}, {-2, -1, 1, 2}), level);
  g::backward(op_of(opcode::clamp, {edges, number(-1), number(1)}), {}, &edges, 1, &got, level);
  check_close(numbers(got), {0, 1, 1, 0});
}

TEST_CASE("a gradient takes the dtype of what it is the gradient of") {
  g::level const level;
  g::handle const x = g::track(make<A>({3}), level);
  g::handle got;
  g::backward(g::convert(op_of(opcode::square, {g::convert(x, dtype::f32)}), dtype::f64), {}, &x, 1,
              &got, level);
  CHECK(g::dtype_of(got) == dtype::f64);
  std::vector<double> wanted = numbers(x);
  for (double& w : wanted) w *= 2;
  check_close(numbers(got), wanted, 1e-6);
}
