#include "tests/unit/graph/helpers.hpp"

#include <ricci/error/exceptions.hpp>

using namespace graph_test;

TEST_CASE("views of tensors share their storage, and have gradients") {
  g::handle const x = make<A, B, C>({2, 3, 4});
  g::handle const part = g::slice(x, axes<A, B, C>(), 2, 1, 2, 2);
  CHECK(g::is_evaluated(part));
  CHECK(g::data(part) == static_cast<double const*>(g::data(x)) + 1);
  std::vector<double> const n = numbers(x);
  std::vector<double> wanted;
  for (std::size_t i = 0; i < 6; ++i) {
    wanted.push_back(n[4 * i + 1]);
    wanted.push_back(n[4 * i + 3]);
  }
  check_close(numbers(part), wanted);

  std::int8_t const order[] = {2, 0, 1};
  std::int64_t const wide[] = {2, 3};
  std::vector<function> const all{
      [&](auto const& in) { return g::permute(in[0], axes<C, A, B>(), order); },
      [&](auto const& in) { return g::rename(in[0], axes<A, B, D>()); },
      [&](auto const& in) { return g::at(in[0], axes<A, C>(), 1, 2); },
      [&](auto const& in) { return g::slice(in[0], axes<A, B, C>(), 1, 1, 2, 1); },
      [&](auto const& in) { return g::slice(in[0], axes<A, B, C>(), 2, 0, 2, 3); },
      [&](auto const& in) { return g::reverse(in[0], 1); },
      [&](auto const& in) { return g::broadcast(in[0], axes<D, E, A, B, C>(), 2, wide); },
      [&](auto const& in) {
        return g::diagonal(g::slice(in[0], axes<A, B, C>(), 1, 0, 2, 1), axes<A, C>(), 0, 1);
      },
      // Of an expression, and under one.
      [&](auto const& in) { return g::at(op_of(opcode::exp, {in[0]}), axes<A, C>(), 1, 0); },
      [&](auto const& in) {
        return op_of(opcode::exp, {g::reverse(op_of(opcode::sin, {in[0]}), 0)});
      },
      // Several windows of one value, apart and overlapping.
      [&](auto const& in) {
        g::handle y = g::at(in[0], axes<A, C>(), 1, 0);
        for (int i = 1; i < 3; ++i)
          y = op_of(opcode::multiply, {y, op_of(opcode::sin, {g::at(in[0], axes<A, C>(), 1, i)})});
        return y;
      },
      [&](auto const& in) {
        return op_of(opcode::multiply, {g::slice(in[0], axes<A, B, C>(), 2, 0, 3, 1),
                                        g::slice(in[0], axes<A, B, C>(), 2, 1, 3, 1)});
      },
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    check_gradients(all[i], {x});
    // Through a value that is not a leaf.
    check_gradients(
        [&](auto const& in) {
          g::handle const y = op_of(opcode::sin, {in[0]});
          g::evaluate(y);
          return all[i]({y});
        },
        {x});
  }
}

TEST_CASE("positions outside an axis are refused by name") {
  g::handle const x = make<A, B>({2, 3});
  CHECK_THROWS_WITH_AS(g::at(x, axes<A>(), 1, 3),
                       "at: position 3 is outside axis `b` of extent 3; operand 1 is [a 2, b 3]",
                       index_error);
  CHECK_THROWS_AS(g::at(x, axes<A>(), 1, -1), index_error);
  CHECK_THROWS_AS(g::slice(x, axes<A, B>(), 1, 1, 3, 1), index_error);
  CHECK_THROWS_AS(g::slice(x, axes<A, B>(), 1, 0, 2, 0), index_error);
  CHECK_THROWS_AS(g::slice(x, axes<A, B>(), 1, 1, INT64_MAX, INT64_MAX), index_error);
  CHECK_THROWS_AS(g::diagonal(x, axes<A>(), 0, 1), shape_error);
  CHECK(numbers(g::slice(x, axes<A, B>(), 1, 3, 0, 1)).empty());
}

TEST_CASE("concat and stack") {
  g::handle const a = make<A, B>({2, 1}, std::vector<double>{1, 2});
  g::handle const b = make<A, B>({2, 2}, {3, 4, 5, 6});
  g::handle const parts[] = {a, b};
  check_close(numbers(g::concat(parts, 2, axes<A, B>(), 1)), {1, 3, 4, 2, 5, 6});
  CHECK_THROWS_AS(g::concat(parts, 2, axes<A, B>(), 0), shape_error);
  check_gradients([&](auto const& in) { return g::concat(in.data(), 2, axes<A, B>(), 1); }, {a, b});
  g::handle const twice[] = {b, b};
  check_close(numbers(g::stack(twice, 2, axes<C, A, B>())), {3, 4, 5, 6, 3, 4, 5, 6});
  check_gradients(
      [&](auto const& in) {
        return op_of(opcode::square, {g::stack(in.data(), 2, axes<C, A, B>())});
      },
      {b, make<A, B>({2, 2})});
  std::vector<g::handle> const many(250, b);
  CHECK(g::extents(g::stack(many.data(), 250, axes<C, A, B>()))[0] == 250);
  std::vector<double> const stacked = numbers(g::stack(many.data(), 250, axes<C, A, B>()));
  CHECK(stacked[999] == 6);
  CHECK(numbers(g::concat(many.data(), 250, axes<A, B>(), 0)).size() == 1000);
}

TEST_CASE("packed copies views only; unshared copies what others hold") {
  g::handle const x = make<A, B>({2, 3});
  CHECK(g::packed(x).get() == x.get());
  g::handle const flipped = g::packed(g::reverse(x, 0));
  CHECK(g::data(flipped) != g::data(x));
  g::handle other = x;
  g::handle const own = g::unshared(std::move(other));
  CHECK(g::data(own) != g::data(x));
  g::value* const before = own.get();
  g::handle again = own;
  again = {};
  CHECK(own.get() == before);
}
