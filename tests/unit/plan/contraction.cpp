#include <ricci/plan/contraction.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using ricci::contraction_kind;
using ricci::contraction_options;
using ricci::contraction_plan;
using ricci::contraction_tensor;
using ricci::index_role;
using ricci::layout;

namespace {

// Letters are indices; the operand is packed unless a layout is given.
constexpr contraction_tensor tensor(std::string_view letters) {
  contraction_tensor t{layout::packed(static_cast<int>(letters.size()))};
  for (std::size_t i = 0; i < letters.size(); ++i)
    t.index[i] = static_cast<std::uint8_t>(letters[i] - 'a');
  return t;
}

constexpr contraction_tensor tensor(std::string_view letters, layout known) {
  contraction_tensor t = tensor(letters);
  t.known = known;
  return t;
}

constexpr contraction_plan plan(contraction_tensor a, contraction_tensor b,
                                std::string_view letters, contraction_options options = {}) {
  contraction_tensor const result = tensor(letters);
  return plan_contraction(a, b, result.index, result.known.rank, options);
}

constexpr contraction_plan plan(std::string_view a, std::string_view b, std::string_view result) {
  return plan(tensor(a), tensor(b), result);
}

constexpr int permutation_bca[] = {1, 2, 0};

}  // namespace

TEST_CASE("what merges is one matrix product") {
  constexpr auto p = plan("bsh", "hm", "bsm");
  static_assert(p.kind == contraction_kind::gemm && p.copies() == 0 && !p.swapped);
  static_assert(p.group_count == 3 && p.groups[p.m].first == 0 && p.groups[p.m].last == 1);
  static_assert(plan("bsh", "mh", "bsm").copies() == 0);  // a transposed weight
  static_assert(plan("bsh", "bsm", "hm").copies() == 0);  // a weight gradient: k = b s
  static_assert(plan("bsh", "bsm", "hm").kind == contraction_kind::gemm);
  static_assert(plan("ik", "kj", "ji").swapped);
  static_assert(plan("ik", "kj", "ji").copies() == 0);
  static_assert(plan("k", "kj", "j").kind == contraction_kind::gemm);
  static_assert(plan("k", "kj", "j").m == -1);
  static_assert(plan("jk", "k", "j").swapped);
  static_assert(plan("abcd", "cdef", "abef").group_count == 3);
}

TEST_CASE("what does not merge is a batch axis") {
  constexpr auto heads = plan("bqhd", "bkhd", "bhqk");
  static_assert(heads.kind == contraction_kind::batched_gemm && heads.copies() == 0);
  static_assert(heads.batches() == 2);
  constexpr auto values = plan("bhqk", "bkhd", "bqhd");
  static_assert(values.kind == contraction_kind::batched_gemm && values.copies() == 0);
  // A slice of s: b and s do not merge, the weight is broadcast over b.
  constexpr auto sliced =
      plan(tensor("bsh", ricci::sliced(layout::packed(3), 1)), tensor("hm"), "bsm");
  static_assert(sliced.kind == contraction_kind::batched_gemm && sliced.batches() == 1);
  static_assert(sliced.copies() == 0);
  static_assert(sliced.groups[sliced.m].last == 1);
}

TEST_CASE("what neither merges nor lies on a unit stride is packed") {
  static_assert(plan("klm", "lkn", "mn").pack_right);
  static_assert(!plan("klm", "lkn", "mn").pack_left);
  constexpr contraction_options left_is_smaller{.prefer_pack_a = true};
  static_assert(plan(tensor("klm"), tensor("lkn"), "mn", left_is_smaller).pack_left);
  static_assert(plan("kml", "kln", "mn").pack_left);  // k and l are apart in the left operand
  static_assert(!plan("kml", "kln", "mn").pack_right);
  static_assert(plan("ikb", "kjb", "bij").copies() == 2);  // the unit stride is on the batch
  static_assert(plan("bik", "bkj", "ijb").copy_result);
  constexpr auto stepped =
      plan(tensor("ik", ricci::sliced(layout::packed(2), 1, 2)), tensor("kj"), "ij");
  static_assert(stepped.pack_left && !stepped.pack_right);
  constexpr auto backwards = plan(tensor("ik", reversed(layout::packed(2), 0)), tensor("kj"), "ij");
  static_assert(backwards.pack_left);
  static_assert(
      plan(tensor("ki", broadcast_front(layout::packed(1), 1)), tensor("kj"), "ij").pack_left);
  static_assert(plan("iks", "kj", "ij").pack_left);  // s is summed on the way
}

TEST_CASE("products without a k, and without m and n, are loops over operands as they lie") {
  static_assert(plan("i", "j", "ij").kind == contraction_kind::loops);
  static_assert(plan("ij", "ij", "ij").kind == contraction_kind::loops);
  static_assert(plan("ij", "ij", "ij").group_count == 1);
  static_assert(plan("ij", "ij", "").kind == contraction_kind::loops);
  static_assert(plan("bi", "bi", "b").copies() == 0);
  constexpr contraction_options only_loops{.only_loops = true, .must_pack_a = true};
  static_assert(plan(tensor("kml"), tensor("lkn"), "mn", only_loops).copies() == 0);
  static_assert(plan("is", "j", "ij").pack_left);
}

TEST_CASE("a result that no operand can give is invalid") {
  static_assert(plan("ik", "kj", "ijx").kind == contraction_kind::invalid);
  static_assert(plan("ik", "kj", "ii").kind == contraction_kind::invalid);
}

TEST_CASE("diagonals are taken as views first") {
  constexpr auto p = plan("iik", "kj", "ij");
  static_assert(p.diagonals_a == 1 && p.copies() == 0);
  static_assert(plan("iii", "ii", "").diagonals_a == 2);
  constexpr auto t = tensor("ii");
  constexpr auto trace = ricci::plan_contraction(t, t.index, 0);
  static_assert(trace.kind == contraction_kind::sum && trace.group_count == 1);
}

TEST_CASE("one operand is copied or summed") {
  constexpr auto a = tensor("abc");
  constexpr auto turned = tensor("bca");
  constexpr auto copied = ricci::plan_contraction(a, turned.index, 3);
  static_assert(copied.kind == contraction_kind::copy && copied.group_count == 2);
  constexpr auto back = tensor("abc", permuted(layout::packed(3), permutation_bca));
  static_assert(ricci::plan_contraction(back, a.index, 1).kind == contraction_kind::sum);
  static_assert(ricci::plan_contraction(a, tensor("d").index, 1).kind == contraction_kind::invalid);
}

TEST_CASE("random contractions keep the postconditions for real strides") {
  std::mt19937 engine{7};
  auto const below = [&](int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); };
  int counts[6] = {};
  for (int round = 0; round < 20000; ++round) {
    int const count = 1 + below(6);
    std::vector<std::int64_t> extent(count);
    for (auto& e : extent) e = 2 + below(4);
    std::vector<std::uint8_t> ids[3];
    for (int i = 0; i < count; ++i) {
      int where = 1 + below(7);  // bits: a, b, result
      if (where == 4) where = 7;
      for (int t = 0; t < 3; ++t)
        if (where >> t & 1) ids[t].push_back(static_cast<std::uint8_t>(i));
    }
    std::vector<std::int64_t> strides[3];
    contraction_tensor operands[2];
    for (int t = 0; t < 3; ++t) {
      auto& order = ids[t];
      std::shuffle(order.begin(), order.end(), engine);
      int const rank = static_cast<int>(order.size());
      strides[t].resize(rank);
      layout known = layout::packed(rank);
      std::int64_t stride = 1;
      for (int i = rank - 1; i >= 0; --i) {
        strides[t][i] = stride;
        stride *= extent[order[i]];
      }
      if (t == 2) break;
      for (int change = below(3); change > 0 && rank > 0; --change) {
        int const axis = below(rank);
        switch (below(5)) {
          case 0:
            known = sliced(known, axis, 2);
            strides[t][axis] *= 2;
            break;
          case 1:
            known = reversed(known, axis);
            strides[t][axis] = -strides[t][axis];
            break;
          case 2: {  // the place of an axis is taken by a broadcast one
            known = at(known, axis);
            known = broadcast_front(known, 1);
            std::uint8_t const id = order[axis];
            order.erase(order.begin() + axis);
            strides[t].erase(strides[t].begin() + axis);
            order.insert(order.begin(), id);
            strides[t].insert(strides[t].begin(), 0);
            break;
          }
          default: {
            std::vector<int> turned(rank);
            for (int i = 0; i < rank; ++i) turned[i] = i;
            std::shuffle(turned.begin(), turned.end(), engine);
            auto const old_ids = order;
            auto const old_strides = strides[t];
            for (int i = 0; i < rank; ++i) {
              order[i] = old_ids[turned[i]];
              strides[t][i] = old_strides[turned[i]];
            }
            known = permuted(known, turned);
          }
        }
      }
      operands[t].known = known;
      std::copy(order.begin(), order.end(), operands[t].index);
    }
    auto const p =
        plan_contraction(operands[0], operands[1], ids[2].data(), static_cast<int>(ids[2].size()));
    ++counts[static_cast<int>(p.kind)];
    REQUIRE(p.kind != contraction_kind::invalid);
    REQUIRE(p.index_count == count);
    // Strides of the three tensors by index of the plan; packed ones by the plan's rule.
    std::vector<std::int64_t> of[3];
    auto const roles_of = [&](int tensor_number) {
      using r = index_role;
      return tensor_number == 0   ? std::vector<r>{r::batch, r::m, r::k}
             : tensor_number == 1 ? std::vector<r>{r::batch, r::k, r::n}
                                  : std::vector<r>{r::batch, r::m, r::n};
    };
    bool const packed[3] = {p.pack_left, p.pack_right, p.copy_result};
    for (int t = 0; t < 3; ++t) {
      of[t].resize(count);
      if (packed[t]) {
        std::int64_t stride = 1;
        auto const roles = roles_of(t);
        for (int r = 2; r >= 0; --r)
          for (int i = count - 1; i >= 0; --i) {
            if (p.indices[i].role != roles[r]) continue;
            of[t][i] = stride;
            stride *= extent[p.indices[i].id];
          }
        continue;
      }
      for (int i = 0; i < count; ++i) {
        int const axis = t == 0   ? p.indices[i].left
                         : t == 1 ? p.indices[i].right
                                  : p.indices[i].result;
        int const source = t == 2 ? 2 : (t == 0) != p.swapped ? 0 : 1;
        if (axis >= 0) {
          REQUIRE(ids[source][axis] == p.indices[i].id);
          of[t][i] = strides[source][axis];
        }
      }
    }
    for (int g = 0; g < p.group_count; ++g) {
      auto const& group = p.groups[g];
      for (int i = group.first; i < group.last; ++i) {
        REQUIRE(p.indices[i].role == group.role);
        for (int t = 0; t < 3; ++t) REQUIRE(of[t][i] == extent[p.indices[i + 1].id] * of[t][i + 1]);
      }
    }
    if (p.gemms() == 0) continue;
    auto const stride = [&](int t, int g) { return g < 0 ? 0 : of[t][p.groups[g].last]; };
    REQUIRE(p.k >= 0);
    REQUIRE(p.n >= 0);
    REQUIRE(stride(2, p.n) == 1);
    REQUIRE((stride(0, p.m) == 1 || stride(0, p.k) == 1));
    REQUIRE((stride(1, p.n) == 1 || stride(1, p.k) == 1));
    for (int g = 0; g < p.group_count; ++g) {
      for (int t = 0; t < 2; ++t) REQUIRE(stride(t, g) >= 0);
      if (g == p.m || g == p.k) REQUIRE(stride(0, g) > 0);
      if (g == p.n || g == p.k) REQUIRE(stride(1, g) > 0);
    }
  }
  for (auto kind :
       {contraction_kind::gemm, contraction_kind::batched_gemm, contraction_kind::loops})
    CHECK(counts[static_cast<int>(kind)] > 1000);
}
