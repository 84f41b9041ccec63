#include <doctest/doctest.h>

#include <ricci/plan/explain.hpp>
#include <ricci/tensor/storage.hpp>

#include "tests/unit/plan/random_statement.hpp"

using namespace plan_test;

namespace {

int steps_of(explanation const& e, step_kind kind) {
  int count = 0;
  for (int i = 0; i < e.step_count(); ++i) count += e.step(i).kind == kind;
  return count;
}

g::counters difference(g::counters const& after, g::counters const& before) {
  g::counters d = after;
  d.loops -= before.loops;
  d.gemms -= before.gemms;
  d.gemm_calls -= before.gemm_calls;
  d.small_contractions -= before.small_contractions;
  d.packs -= before.packs;
  d.copies -= before.copies;
  d.reductions -= before.reductions;
  d.kernels -= before.kernels;
  return d;
}

// What a plan says is what runs: every count, and the peak of the bytes of intermediates.
void check(random_statement& statement) {
  CAPTURE(statement.text);
  explanation const planned(statement.root.value);
  CAPTURE(planned.text());
  REQUIRE(g::is_evaluated(statement.root.value) == (planned.step_count() == 0));
  std::int64_t const before = memory::live(role::activation);
  std::int64_t const before_all = memory::live();
  memory::reset_peak();
  g::counters const counted = g::counted();
  g::evaluate(statement.root.value);
  g::counters const ran = difference(g::counted(), counted);
  CHECK(ran.gemms == planned.gemms());
  CHECK(ran.small_contractions == steps_of(planned, step_kind::loops));
  // Where oneDNN has no fused way for a bf16 epilogue, the product is computed beside in f32.
  int const packs = steps_of(planned, step_kind::pack) + steps_of(planned, step_kind::permute);
  bool const may_be_beside = g::dtype_of(statement.root.value) == dtype::bf16;
  CHECK(ran.packs >= packs);
  CHECK(ran.packs <= packs + (may_be_beside ? planned.gemms() : 0));
  CHECK(ran.copies == steps_of(planned, step_kind::copy));
  CHECK(ran.loops == steps_of(planned, step_kind::loop));
  CHECK(ran.reductions == steps_of(planned, step_kind::reduction));
  CHECK(ran.kernels == steps_of(planned, step_kind::kernel));
  CHECK(memory::peak(role::activation) - before == planned.totals().value_peak_bytes);
  if (ran.packs == packs)
    CHECK(memory::peak_without_scratch() - before_all == planned.totals().peak_bytes);
}

}  // namespace

TEST_CASE("explain: random statements run as planned") {
  constexpr unsigned seed = 20261201;
  MESSAGE("seed " << seed);
  for (unsigned i = 0; i < 400; ++i) {
    CAPTURE(i);
    random_statement statement(seed + i);
    check(statement);
  }
}

TEST_CASE("explain: random statements with a history run as planned") {
  constexpr unsigned seed = 20261202;
  MESSAGE("seed " << seed);
  for (unsigned i = 0; i < 200; ++i) {
    CAPTURE(i);
    g::level const level;
    random_statement statement(seed + i, &level);
    check(statement);
  }
}
