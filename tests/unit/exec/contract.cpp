#include <ricci/exec/contract.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <ricci/error/exceptions.hpp>

#include "kernels/parallel/parallel.hpp"
#include "tests/unit/exec/contract_cases.hpp"

using namespace ricci::tests;
using ricci::dtype;
using ricci::opcode;

TEST_CASE("the bits do not depend on the number of threads") {
  struct shape {
    std::int64_t m, n, k;
  };
  // The last ones: oneDNN left to itself shares their k out among the threads.
  constexpr shape shapes[] = {{128, 256, 384}, {300, 65, 129},  {96, 96, 96},   {128, 128, 2048},
                              {64, 64, 2048},  {384, 64, 2048}, {64, 32, 8192}, {16, 16, 4096}};
  int const before = ricci::kernels::threads();
  for (dtype const type : {dtype::f32, dtype::bf16, dtype::f64}) {
    for (shape const& s : shapes) {
      std::int64_t extent[26] = {};
      extent['m' - 'a'] = s.m;
      extent['n' - 'a'] = s.n;
      extent['k' - 'a'] = s.k;
      // The same numbers, read as packed [m, k] or [k, m] and [k, n] or [n, k].
      problem p = product_of(type, "mk", "kn", "mn", extent, type);
      for (int layout = 0; layout < 4; ++layout) {
        view& turned = p.operands[layout % 2];
        std::swap(turned.ids[0], turned.ids[1]);
        std::swap(turned.extents[0], turned.extents[1]);
        turned.strides[0] = turned.extents[1];
        bool const is_transposed = p.operands[0].ids[1] == 'm' - 'a';
        ricci::kernels::set_threads(1);
        outcome const one = run(p);
        for (int threads : {2, 3, 4}) {
          if (threads != 3 && (type == dtype::f64 || !is_transposed)) continue;
          ricci::kernels::set_threads(threads);
          CHECK_MESSAGE(run(p).result.bytes == one.result.bytes, text_of(p), " threads ", threads);
        }
      }
    }
  }
  std::int64_t extent[26];
  std::fill_n(extent, 26, 20);
  extent['k' - 'a'] = extent['q' - 'a'] = 70;
  std::vector<problem> others;
  for (dtype const type : {dtype::f32, dtype::bf16, dtype::f64}) {
    others.push_back(product_of(type, "bqhd", "bkhd", "bhqk", extent, type));
    others.push_back(product_of(type, "bhqk", "bkhd", "bqhd", extent, type));
    others.push_back(product_of(type, "bik", "bkj", "ijb", extent, type));
  }
  std::int64_t long_sum[26] = {};
  long_sum['k' - 'a'] = 300000;
  long_sum['n' - 'a'] = 3;
  others.push_back(product_of(dtype::f32, "k", "kn", "n", long_sum, dtype::f32));
  others.push_back(product_of(dtype::f32, "k", "k", "", long_sum, dtype::f32));
  for (problem const& p : others) {
    ricci::kernels::set_threads(1);
    outcome const one = run(p);
    CHECK(wrong(p, one) == 0);
    ricci::kernels::set_threads(3);
    CHECK_MESSAGE(run(p).result.bytes == one.result.bytes, text_of(p));
  }
  ricci::kernels::set_threads(before);
}

TEST_CASE("sums whose arrays lie in another order than the largest of them") {
  struct shape {
    char const *a, *b, *c;
  };
  constexpr shape shapes[] = {
      {"cb", "bac", "a"},     {"cb", "abc", "a"},     {"cadb", "cda", "bd"},
      {"dcab", "dcb", "cba"}, {"dbac", "dbc", "ca"},  {"ce", "dbeac", "abd"},
      {"bcde", "b", "dec"},   {"ecab", "ecab", "ba"}, {"bca", "acb", "a"}};
  std::int64_t extent[26] = {61, 23, 67, 5, 7};
  generator g(15);
  for (dtype const type : {dtype::f32, dtype::f64, dtype::bf16, dtype::i32, dtype::i16})
    for (shape const& s : shapes) {
      dtype const result = type == dtype::bf16 ? dtype::f32 : type;  // sums may cancel
      problem p = product_of(type, s.a, s.b, s.c, extent, result);
      if (!ricci::is_floating(type))
        for (view& x : p.operands) {
          std::int64_t count = 1;
          for (std::int64_t const e : x.extents) count *= e;
          x.data = array(type, g.smalls(count, false));
        }
      std::int64_t const bad = wrong(p, run(p));
      if (bad != 0) FAIL_CHECK(bad, " wrong: ", text_of(p));
      p.activation = opcode::relu;
      CHECK(wrong(p, run(p)) == 0);
    }
}

TEST_CASE("outer products into an order that neither operand has") {
  std::int64_t extent[26] = {61, 7, 3, 977};
  for (dtype const type : {dtype::f32, dtype::bf16, dtype::i32}) {
    problem p = product_of(type, "bd", "cab", "adbc", extent, type);
    CHECK(wrong(p, run(p)) == 0);
    p.alpha = 0.25;
    CHECK(wrong(p, run(p)) == 0);
  }
}

TEST_CASE("several threads of the caller's share the primitives") {
  std::int64_t extent[26] = {};
  extent['m' - 'a'] = 60;
  extent['k' - 'a'] = 70;
  std::vector<problem> problems;
  for (std::int64_t n = 33; n < 43; ++n) {
    extent['n' - 'a'] = n;
    problems.push_back(product_of(dtype::f32, "mk", "kn", "mn", extent, dtype::f32));
  }
  std::vector<std::vector<char>> expected_bytes;
  for (problem const& p : problems) expected_bytes.push_back(run(p).result.bytes);
  std::atomic<int> differ{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 50; ++i) {
        std::size_t const which = (i * 7 + caller) % problems.size();
        if (run(problems[which]).result.bytes != expected_bytes[which]) ++differ;
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(differ == 0);
}

TEST_CASE("no lowering reaches oneDNN's reference implementation") {
  std::int64_t extent[26];
  std::fill_n(extent, 26, 24);
  extent['j' - 'a'] = 70;
  for (dtype const type : {dtype::f32, dtype::bf16}) {
    for (auto const& [a, b, c] : {std::tuple{"bsh", "hm", "bsm"},
                                  {"bsh", "mh", "bsm"},
                                  {"bsh", "bsm", "hm"},
                                  {"bsm", "hm", "bsh"},
                                  {"bqhd", "bkhd", "bhqk"},
                                  {"bhqk", "bkhd", "bqhd"},
                                  {"bik", "bkj", "ijb"},
                                  {"ikb", "kjb", "bij"},
                                  {"klm", "lkn", "mn"},
                                  {"ik", "kj", "ji"}}) {
      problem p = product_of(type, a, b, c, extent, type);
      int products = 0;
      for (int code = 8; code < 16; ++code) {
        p.forced = static_cast<lowering_code>(code);
        outcome const o = run(p);
        if (o.report.lowering != p.forced) continue;  // not among the candidates
        CHECK_MESSAGE(o.report.gemms == 1, text_of(p));
        CHECK(o.report.loops == 0);
        ++products;
      }
      CHECK(products > 0);
    }
  }
}

TEST_CASE("what ran is reported") {
  std::int64_t extent[26];
  std::fill_n(extent, 26, 40);
  problem p = product_of(dtype::f32, "bsh", "hm", "bsm", extent, dtype::f32);
  p.bias = {array(dtype::f32, std::vector<double>(40, 0.5)), {0, 0, 1}};
  p.activation = opcode::gelu_tanh;
  p.forced = lowering_code::gemm;
  outcome const o = run(p);
  CHECK(o.report.gemms == 1);
  CHECK(o.report.batch == 1);
  CHECK(o.report.m == 1600);
  CHECK(o.report.n == 40);
  CHECK(o.report.k == 40);
  CHECK(o.report.packs == 0);
  CHECK(o.report.is_fused);
  CHECK(o.report.temporary_bytes == 0);
  CHECK(wrong(p, o) == 0);
  outcome const half = run(product_of(dtype::f16, "bsh", "hm", "bsm", extent, dtype::f16));
  CHECK(half.report.loops == 1);  // they convert as they read
  CHECK(half.report.packs == 0);
  CHECK(run(product_of(dtype::f64, "bsh", "hm", "bsm", extent, dtype::f64)).report.loops == 1);
}

TEST_CASE("an empty sum is zero, and what follows it still happens") {
  std::int64_t extent[26] = {};
  extent['m' - 'a'] = 50;
  extent['n' - 'a'] = 60;
  for (dtype const type : {dtype::f32, dtype::bf16, dtype::f64, dtype::i32}) {
    problem p = product_of(type, "mk", "kn", "mn", extent, type == dtype::i32 ? dtype::i64 : type);
    if (type != dtype::i32) p.bias = {array(type, std::vector<double>(60, 2)), {0, 1}};
    outcome const o = run(p);
    for (double x : o.result.values) REQUIRE(x == (type == dtype::i32 ? 0 : 2));
  }
  extent['m' - 'a'] = 0;
  extent['k' - 'a'] = 70;
  CHECK(run(product_of(dtype::f32, "mk", "kn", "mn", extent, dtype::f32)).report.gemms == 0);
}

TEST_CASE("integers wrap as 64 bits do") {
  std::int64_t extent[26] = {};
  extent['m' - 'a'] = extent['n' - 'a'] = 3;
  extent['k' - 'a'] = 2;
  problem p = product_of(dtype::i64, "mk", "kn", "mn", extent, dtype::i64);
  std::int64_t const large = std::numeric_limits<std::int64_t>::max();
  for (auto& operand : p.operands)
    for (std::size_t i = 0; i < 6; ++i) std::memcpy(operand.data.bytes.data() + 8 * i, &large, 8);
  outcome const o = run(p);
  for (double x : o.result.values) CHECK(x == 2);  // 2 (2^63 - 1)^2 modulo 2^64
}

TEST_CASE("what does not fit is refused in a sentence") {
  std::int64_t extent[26] = {};
  std::fill_n(extent, 26, 4);
  problem p = product_of(dtype::f32, "mk", "kn", "mn", extent, dtype::f32);
  p.operands[1].extents[0] = 5;
  CHECK_THROWS_WITH_AS(run(p),
                       "contract: index 10 has extent 4 and, in the second operand, 5; an index "
                       "has one extent.",
                       ricci::shape_error);
  p = product_of(dtype::f32, "mk", "kn", "mn", extent, dtype::f16);
  CHECK_THROWS_AS(run(p), ricci::value_error);
  p = product_of(dtype::f32, "mk", "kn", "mx", extent, dtype::f32);
  CHECK_THROWS_AS(run(p), ricci::value_error);
  p = product_of(dtype::f32, "mk", "kn", "mm", extent, dtype::f32);
  CHECK_THROWS_AS(run(p), ricci::value_error);
  p = product_of(dtype::i32, "mk", "kn", "mn", extent, dtype::i64);
  p.activation = opcode::tanh;
  CHECK_THROWS_AS(run(p), ricci::value_error);
  // Broadcast operands whose result is beyond 63 bits, without a byte of it allocated.
  std::int64_t const huge[] = {std::int64_t{1} << 40};
  std::int64_t const zero[] = {0};
  std::uint8_t const i[] = {0}, j[] = {1}, ij[] = {0, 1};
  std::int64_t const both[] = {huge[0], huge[0]};
  float const one = 1;
  float out;
  CHECK_THROWS_AS(contract({&one, dtype::f32, 1, huge, zero, i},
                           {&one, dtype::f32, 1, huge, zero, j}, {&out, dtype::f32, 2, both, ij}),
                  ricci::shape_error);
}
