#include <doctest/doctest.h>

#include <ricci/plan/planner.hpp>

#include <string>

// The arithmetic of costs, and who holds which bytes.
namespace {

using namespace ricci;
using detail::live_values;
using detail::monomial_sum;
using detail::product_of;
using detail::size_from;
using detail::sized;

monomial symbol(int i, int power = 1) {
  monomial m;
  m.power[i] = static_cast<std::int8_t>(power);
  return m;
}

}  // namespace

TEST_CASE("monomials: products and quotients are reduced") {
  sized const seq{512, symbol(1)};
  sized const chunk = seq / size_from(16);
  CHECK(chunk.value == 32);
  CHECK(chunk.term.denominator == 16);
  CHECK(chunk.term.power[1] == 1);
  sized const whole = chunk * size_from(16);
  CHECK(whole.value == 512);
  CHECK(whole.term.numerator == 1);
  CHECK(whole.term.denominator == 1);
  sized const none = whole / seq;
  CHECK(none.term.power[1] == 0);
  CHECK((size_from(6) * (size_from(1) / size_from(4))).term.numerator == 3);
  CHECK((size_from(6) * (size_from(1) / size_from(4))).term.denominator == 2);
  CHECK((size_from(0) * seq).term.numerator == 0);
}

TEST_CASE("monomials: like terms of a sum are one, also where they have denominators") {
  monomial_sum sum;
  sum.add(3, symbol(0));
  sum.add(4, symbol(0));
  sum.add(5, symbol(0, 2));
  sum.add(0, symbol(3));
  REQUIRE(sum.count == 2);
  CHECK(sum.terms[0].numerator == 7);
  CHECK(sum.terms[1].numerator == 5);
  sum.add(1, product_of(symbol(0), size_from(2).term, true));
  CHECK(sum.count == 2);
  CHECK(sum.terms[0].numerator == 15);
  CHECK(sum.terms[0].denominator == 2);
  sum.add(1, product_of(symbol(0), size_from(2).term, true));
  CHECK(sum.terms[0].numerator == 8);
  CHECK(sum.terms[0].denominator == 1);
}

TEST_CASE("numbers that do not fit are the largest") {
  CHECK(saturating_product(INT64_MAX / 2, 3) == INT64_MAX);
  CHECK(saturating_product(INT64_MAX, 0) == 0);
  CHECK(saturating_sum(INT64_MAX, 1) == INT64_MAX);
}

TEST_CASE("live values: storage goes with the last value that holds it") {
  // 0 is a tensor that others hold, 1 = f(0), 2 a view of 1, 3 = g(2).
  statement_value values[4];
  int inputs[] = {0, 1, 2};
  std::int64_t extents[] = {8, 8, 8, 8};
  statement_storage storages[] = {{32, 2, false}};
  for (int i = 0; i < 4; ++i) {
    values[i].rank = 1;
    values[i].count = 8;
    values[i].first_extent = i;
    values[i].references = i == 0 ? 2 : 1;
    if (i > 0) {
      values[i].kind = value_kind::other;
      values[i].inputs = 1;
      values[i].first_input = i - 1;
    }
  }
  values[0].storage = 0;
  values[0].order = layout::packed(1);
  statement s;
  s.values = values;
  s.inputs = inputs;
  s.extents = extents;
  s.storages = storages;
  s.value_count = 4;
  s.storage_count = 1;
  s.root_value = 3;
  detail::live_value room[4];
  statement_storage memory[5];
  live_values live(s, room, memory);
  CHECK(live.live() == 0);
  live.allocate(1);
  live.mark_evaluated(1);
  CHECK(live.live() == 32);
  CHECK(live.is_sole_owner(1));
  live.share(2, 1);
  live.mark_evaluated(2);  // 1 goes, its storage is the view's
  CHECK(live.live() == 32);
  CHECK(live.is_sole_owner(2));
  live.allocate(3);
  CHECK(live.live() == 64);
  live.mark_evaluated(3);
  CHECK(live.live() == 32);
  CHECK(live.peak() == 64);
}

TEST_CASE("operations: the table has an entry for every opcode that computes") {
  for (int i = 0; i < opcode_count; ++i) {
    opcode const op = static_cast<opcode>(i);
    int const n = operations_of(op);
    CAPTURE(std::string(name_of(op)));
    CHECK(n >= 0);
    CHECK(n <= 2);
    bool const computes_nothing =
        op == opcode::index || op == opcode::convert || op == opcode::where;
    CHECK((n == 0) == computes_nothing);
  }
}
