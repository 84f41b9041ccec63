#include "tests/unit/exec/contract_cases.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace ricci::tests;
using ricci::dtype;
using ricci::lowering_code;
using ricci::opcode;

TEST_CASE("random contractions equal nested loops, in every dtype") {
  generator g(11);
  contraction_report seen;
  for (int round = 0; round < 2400; ++round) {
    dtype const type = all_types[round % 12];
    problem p = g.contraction(type, round % 10 == 0);
    outcome const o = run(p);
    seen.gemms += o.report.gemms;
    seen.packs += o.report.packs;
    seen.loops += o.report.loops;
    std::int64_t const bad = wrong(p, o);
    if (bad != 0) FAIL_CHECK(bad, " wrong: ", text_of(p));
  }
  CHECK(seen.packs > 0);
  CHECK(seen.loops > 1500);
}

TEST_CASE("random contractions large enough for a matrix product, with epilogues") {
  generator g(12);
  int gemms = 0;
  int unfused = 0;
  constexpr opcode activations[] = {opcode::convert, opcode::convert,  opcode::relu,
                                    opcode::silu,    opcode::gelu_erf, opcode::gelu_tanh,
                                    opcode::tanh,    opcode::sigmoid};
  for (int round = 0; round < 300; ++round) {
    dtype const type = all_types[g.below(4)];
    problem p = g.contraction(type, round % 4 != 0);
    dtype const extra = type == dtype::f64 || g.below(2) ? type : dtype::f32;
    if (g.below(2)) p.bias = g.addend(p, extra, false);
    if (g.below(3) == 0) p.residual = g.addend(p, extra, true);
    if (g.below(3) == 0) p.alpha = 0.25;
    p.activation = activations[g.below(8)];
    if (g.below(2)) p.forced = static_cast<lowering_code>(8 + g.below(8));
    outcome const o = run(p);
    gemms += o.report.gemms;
    unfused += !o.report.is_fused;
    std::int64_t const bad = wrong(p, o);
    if (bad != 0) FAIL_CHECK(bad, " wrong: ", text_of(p));
  }
  CHECK(gemms > 20);
  CHECK(unfused > 5);
  CHECK(gemms > unfused);
}

TEST_CASE("every lowering that is forced equals nested loops") {
  constexpr opcode activations[] = {opcode::convert, opcode::relu, opcode::gelu_erf};
  generator g(14);
  int ran[16] = {};
  for (int round = 0; round < 200; ++round) {
    dtype const type = round % 3 == 0 ? dtype::bf16 : dtype::f32;
    problem p = g.contraction(type, round % 2 == 0);
    if (g.below(2)) p.bias = g.addend(p, type, false);
    if (g.below(3) == 0) p.residual = g.addend(p, type, true);
    if (g.below(3) == 0) p.alpha = 0.25;
    p.activation = activations[g.below(3)];
    for (int code : {1, 8, 9, 10, 11, 12, 13, 14, 15}) {
      p.forced = static_cast<lowering_code>(code);
      outcome const o = run(p);
      ran[static_cast<int>(o.report.lowering)] += o.report.lowering == p.forced;
      std::int64_t const bad = wrong(p, o);
      if (bad != 0) FAIL_CHECK(bad, " wrong: ", name_of(p.forced), " ", text_of(p));
    }
  }
  for (int code : {1, 8, 9, 10, 11, 12, 13, 14, 15}) CHECK_MESSAGE(ran[code] > 10, code);
}

TEST_CASE("one operand: diagonals, sums and permutations") {
  generator g(13);
  for (int round = 0; round < 400; ++round) {
    dtype const type = all_types[round % 12];
    problem p = g.contraction(type, round % 10 == 0);
    p.operands.pop_back();
    std::vector<std::uint8_t> ids;
    std::vector<std::int64_t> extents;
    for (std::size_t i = 0; i < p.result_ids.size(); ++i) {
      auto const& has = p.operands[0].ids;
      if (std::find(has.begin(), has.end(), p.result_ids[i]) == has.end()) continue;
      ids.push_back(p.result_ids[i]);
      extents.push_back(p.result_extents[i]);
    }
    p.result_ids = ids;
    p.result_extents = extents;
    if (g.below(3) == 0) p.bias = g.addend(p, type, false);
    std::int64_t const bad = wrong(p, run(p));
    if (bad != 0) FAIL_CHECK(bad, " wrong: ", text_of(p));
  }
}
