#include <ricci/plan/candidates.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string_view>

#include <doctest/doctest.h>

using namespace ricci;

namespace {

constexpr contraction_tensor tensor(std::string_view letters) {
  contraction_tensor t{layout::packed(static_cast<int>(letters.size()))};
  for (std::size_t i = 0; i < letters.size(); ++i)
    t.index[i] = static_cast<std::uint8_t>(letters[i] - 'a');
  return t;
}

constexpr contraction_request request(std::string_view a, std::string_view b,
                                      std::string_view result, std::int64_t extent,
                                      dtype type = dtype::f32) {
  contraction_request r;
  r.a = tensor(a);
  r.b = tensor(b);
  for (char letter : result) r.result[r.result_rank++] = static_cast<std::uint8_t>(letter - 'a');
  for (std::int64_t& e : r.extent) e = extent;
  r.type = r.result_type = type;
  return r;
}

constexpr bool has(candidate_list const& list, lowering_code code) {
  for (int i = 0; i < list.count; ++i)
    if (list.at[i].code == code) return true;
  return false;
}

}  // namespace

TEST_CASE("candidates: a product without copies is taken where it is nearly the best") {
  // A matrix product with each operand transposed or not, and with the result transposed.
  static_assert(candidates_of(request("ik", "kj", "ij", 512)).best().code == lowering_code::gemm);
  static_assert(candidates_of(request("ki", "kj", "ij", 512)).best().code == lowering_code::gemm);
  static_assert(candidates_of(request("ik", "jk", "ij", 512)).best().code == lowering_code::gemm);
  static_assert(candidates_of(request("ki", "jk", "ij", 512)).best().code == lowering_code::gemm);
  static_assert(candidates_of(request("ik", "kj", "ji", 512)).best().plan.copies() == 0);
}

TEST_CASE("candidates: what cannot be is not among them") {
  // k and l lie in different orders: something is packed, or loops run.
  constexpr candidate_list crossed = candidates_of(request("klm", "lkn", "mn", 64));
  static_assert(!has(crossed, lowering_code::gemm));
  static_assert(has(crossed, lowering_code::pack_first_gemm));
  static_assert(has(crossed, lowering_code::pack_second_gemm));
  static_assert(has(crossed, lowering_code::pack_gemm_permute));
  // A matrix and a vector, an outer product, other dtypes: the library is not asked.
  static_assert(candidates_of(request("ik", "k", "i", 512)).count == 1);
  static_assert(candidates_of(request("i", "j", "ij", 512)).count == 1);
  static_assert(candidates_of(request("ik", "kj", "ij", 512, dtype::f64)).count == 1);
  static_assert(candidates_of(request("ik", "kj", "ij", 512, dtype::i32)).count == 1);
  // A sum comes first, in f32: bf16 is no longer the dtype of both.
  static_assert(candidates_of(request("iks", "kj", "ij", 64, dtype::bf16)).count == 1);
  static_assert(candidates_of(request("iks", "kj", "ij", 64)).count > 1);
  static_assert(candidates_of(request("ik", "kj", "ijx", 8)).count == 0);
}

TEST_CASE("candidates: small contractions run in plain loops that take their sums in") {
  constexpr candidate_list small = candidates_of(request("iks", "kj", "ij", 4));
  static_assert(small.count == 1 && small.best().code == lowering_code::loops);
  static_assert(small.best().plan.copies() == 0);
}

TEST_CASE("candidates: one that is forced is chosen where it is among them") {
  contraction_request r = request("bsh", "hm", "bsm", 64);
  for (int code = 1; code < 16; ++code) {
    r.forced = static_cast<lowering_code>(code);
    if (name_of(r.forced).empty()) continue;
    candidate_list const list = candidates_of(r);
    CHECK((list.best().code == r.forced) == has(list, r.forced));
  }
}

TEST_CASE("candidates: random contractions keep the postconditions") {
  std::mt19937 engine{31};
  auto const below = [&](int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); };
  int chosen[16] = {};
  for (int round = 0; round < 3000; ++round) {
    contraction_request r;
    std::uint8_t ids[3][max_rank];
    int ranks[3] = {};
    int const indices = 1 + below(6);
    for (int id = 0; id < indices; ++id) {
      int where = 1 + below(7);
      if (where == 4) where = 7;
      r.extent[id] = 2 + below(40);
      for (int t = 0; t < 3; ++t)
        if (where >> t & 1) ids[t][ranks[t]++] = static_cast<std::uint8_t>(id);
    }
    for (int t = 0; t < 3; ++t) std::shuffle(ids[t], ids[t] + ranks[t], engine);
    r.a.known = layout::packed(ranks[0]);
    r.b.known = layout::packed(ranks[1]);
    std::copy_n(ids[0], ranks[0], r.a.index);
    std::copy_n(ids[1], ranks[1], r.b.index);
    std::copy_n(ids[2], ranks[2], r.result);
    r.result_rank = ranks[2];
    r.type = r.result_type = below(2) ? dtype::f32 : dtype::bf16;
    candidate_list const list = candidates_of(r);
    REQUIRE(list.count >= 1);
    std::set<lowering_code> codes;
    double least = list.at[0].seconds;
    for (int i = 0; i < list.count; ++i) {
      codes.insert(list.at[i].code);
      CHECK(code_of(list.at[i].plan) == list.at[i].code);
      CHECK(list.at[i].seconds > 0);
      least = std::min(least, list.at[i].seconds);
    }
    CHECK(static_cast<int>(codes.size()) == list.count);
    CHECK((list.best().seconds == least ||
           (list.best().code == lowering_code::gemm && list.best().seconds <= 1.25 * least)));
    ++chosen[static_cast<int>(list.best().code)];
  }
  CHECK(chosen[static_cast<int>(lowering_code::loops)] > 100);
  int products = 0;
  for (int code = 8; code < 16; ++code) products += chosen[code];
  CHECK(products > 30);
}
