#include <ricci/plan/order.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using ricci::contraction_order;
using ricci::cost_of_order;
using ricci::max_rank;
using ricci::order_cost;
using ricci::order_count;
using ricci::plan_order;
using ricci::remaining_operands;

namespace {

// Letters are indices: "ab,bc->ac".
struct contraction {
  std::uint32_t operands[ricci::graph::max_operands + 1] = {};
  int count = 0;
  std::uint32_t result = 0;
  std::int64_t extent[32] = {};

  constexpr explicit contraction(std::string_view text) {
    for (std::int64_t& e : extent) e = 2;
    bool is_result = false;
    count = 1;
    for (char const c : text) {
      if (c == ',') ++count;
      if (c == '>') is_result = true;
      if (c < 'a' || c > 'z') continue;
      (is_result ? result : operands[count - 1]) |= std::uint32_t{1} << (c - 'a');
    }
  }
  constexpr contraction& with(std::string_view letters, std::initializer_list<std::int64_t> sizes) {
    for (std::size_t i = 0; i < letters.size(); ++i) extent[letters[i] - 'a'] = sizes.begin()[i];
    return *this;
  }
  constexpr contraction_order order() const { return plan_order(operands, count, result, extent); }
  constexpr order_cost cost(std::int8_t const* position) const {
    return cost_of_order(operands, count, result, extent, position);
  }
};

constexpr bool is_path(contraction_order const& order, std::initializer_list<int> wanted) {
  if (!order.fits || order.positions != static_cast<int>(wanted.size())) return false;
  for (int i = 0; i < order.positions; ++i)
    if (order.position[i] != wanted.begin()[i]) return false;
  return true;
}

// A set of indices as its letters, and costs as f64: exact below 2^53.
struct tree_cost {
  double operations = 0;
  double largest = 0;
  std::string indices;
};

std::string together(std::string const& a, std::string const& b) {
  std::string all = a;
  for (char const c : b)
    if (all.find(c) == std::string::npos) all += c;
  return all;
}

double product(contraction const& c, std::string const& letters) {
  double size = 1;
  for (char const l : letters) size *= static_cast<double>(c.extent[l - 'a']);
  return size;
}

// The cheapest tree over the operands `inside`, by trying each partition in two; `outside` are the
// letters of everything else and of the result.
tree_cost cheapest(contraction const& c, std::vector<std::string> const& inside,
                   std::string const& outside, bool is_all) {
  if (inside.size() == 1) return {0, 0, inside[0]};
  tree_cost best;
  best.operations = -1;
  for (unsigned part = 1; part + 1 < 1u << inside.size(); part += 2) {  // the first in `left`
    std::vector<std::string> left;
    std::vector<std::string> right;
    for (std::size_t i = 0; i < inside.size(); ++i)
      (part >> i & 1 ? left : right).push_back(inside[i]);
    std::string beside_left = outside;
    std::string beside_right = outside;
    for (auto const& x : right) beside_left = together(beside_left, x);
    for (auto const& x : left) beside_right = together(beside_right, x);
    tree_cost const a = cheapest(c, left, beside_left, false);
    tree_cost const b = cheapest(c, right, beside_right, false);
    std::string const all = together(a.indices, b.indices);
    tree_cost whole;
    for (char const l : all)
      if (outside.find(l) != std::string::npos) whole.indices += l;
    whole.operations = a.operations + b.operations + product(c, all);
    whole.largest = std::max(a.largest, b.largest);
    if (!is_all) whole.largest = std::max(whole.largest, product(c, whole.indices));
    bool const is_better = best.operations < 0 || whole.operations < best.operations ||
                           (whole.operations == best.operations && whole.largest < best.largest);
    if (is_better) best = whole;
  }
  return best;
}

std::vector<std::string> split(std::string const& text) {
  std::vector<std::string> groups(1);
  for (char const c : text) {
    if (c == ',' || c == '>') groups.emplace_back();
    if (c >= 'a' && c <= 'z') groups.back() += c;
  }
  return groups;
}

// Operands of up to four of `letters` indices, and a result of some of those that stand anywhere.
std::string random_text(std::mt19937& random, int operands, int letters) {
  auto const below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::string text;
  std::string used;
  for (int g = 0; g < operands; ++g) {
    std::string group;
    for (int i = below(5); i > 0; --i)
      group = together(group, std::string(1, static_cast<char>('a' + below(letters))));
    used = together(used, group);
    text += (g > 0 ? "," : "") + group;
  }
  text += "->";
  for (char const c : used)
    if (below(3) == 0) text += c;
  return text;
}

}  // namespace

TEST_CASE("a chain of four matrices is not contracted from left to right") {
  constexpr auto chain = contraction("ab,bc,cd,de->ae").with("abcde", {10, 1000, 5, 2000, 3});
  constexpr contraction_order order = chain.order();
  static_assert(is_path(order, {2, 3, 1, 2, 0, 1}));
  static_assert(order.cost.operations == 75000 && order.cost.largest == 3000);
  constexpr std::int8_t as_written[] = {0, 1, 2, 0, 1, 0};
  static_assert(chain.cost(as_written).operations == 210000);
  static_assert(chain.cost(order.position) == order.cost);
}

TEST_CASE("equal costs give the order of the text") {
  static_assert(is_path(contraction("ab,bc,cd->ad").order(), {0, 1, 0, 1}));
  static_assert(is_path(contraction("a,a,a->a").order(), {0, 1, 0, 1}));
  static_assert(is_path(contraction(",,->").order(), {0, 1, 0, 1}));
  static_assert(is_path(contraction("ab,bc->ac").order(), {0, 1}));
  static_assert(is_path(contraction("ab->a").order(), {}));
}

TEST_CASE("of equal operations the smaller intermediate decides") {
  // All three orders: 8 a + 8 operations; their intermediates have 8, a and a elements.
  constexpr auto c = contraction("ab,ac,bc->").with("abc", {2, 3, 5});
  constexpr contraction_order order = c.order();
  static_assert(order.cost.operations == 36 && is_path(order, {0, 1, 0, 1}) == false);
  static_assert(order.cost.largest == 6 && is_path(order, {1, 2, 0, 1}));
}

TEST_CASE("indices of one operand that the result lacks go with its first pair") {
  constexpr auto c = contraction("ab,bc,cd->").with("abcd", {7, 2, 3, 11});
  constexpr std::int8_t path[] = {0, 1, 0, 1};
  static_assert(c.cost(path).operations == 7 * 2 * 3 + 3 * 11);
  static_assert(c.cost(path).largest == 3);
}

TEST_CASE("an extent of 0") {
  constexpr auto c = contraction("ab,bc,cd->ad").with("abcd", {10, 0, 5, 7});
  static_assert(c.order().cost == order_cost{});  // (ab)c has 10 * 5 * 7 operations
}

TEST_CASE("costs beyond 2^63 are compared exactly") {
  constexpr std::int64_t n = std::int64_t{1} << 31;
  // (ab)c costs ac(b+d), a(bc) costs bd(a+c): (n+1)(n-1) 2n and n n 2n.
  constexpr auto first = contraction("ab,bc,cd->ad").with("abcd", {n + 1, n, n - 1, n});
  constexpr auto last = contraction("ab,bc,cd->ad").with("abcd", {n, n + 1, n, n - 1});
  static_assert(is_path(first.order(), {0, 1, 0, 1}));
  static_assert(is_path(last.order(), {1, 2, 0, 1}));
  constexpr order_count wanted = (order_count{1} << 94) - (order_count{1} << 32);
  static_assert(first.order().cost.operations == wanted);
  static_assert(last.order().cost.operations == wanted);
  // And do not wrap where they pass 2^120.
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  constexpr auto all = contraction("abcd,cdef,efgh->abgh")
                           .with("abcdefgh", {huge, huge, huge, huge, huge, huge, huge, huge});
  static_assert(all.order().fits && all.order().cost.operations >= order_count{1} << 120);
  constexpr auto none = contraction("abcd,cdef,efgh->abgh")
                            .with("abcdefgh", {huge, huge, huge, huge, huge, 0, huge, huge});
  static_assert(none.order().fits && none.order().cost == order_cost{});
}

TEST_CASE("to eight operands no binary tree is cheaper") {
  unsigned const seed = 20240611;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int number = 0; number < 100; ++number) {
    int const operands = 3 + number % 6;
    std::string const text = random_text(random, operands, 4 + number % 7);
    CAPTURE(text);
    contraction c(text);
    for (std::int64_t& e : c.extent) e = 1 + static_cast<std::int64_t>(random() % 9);
    if (number % 10 == 0) c.extent[random() % 6] = 0;
    std::vector<std::string> groups = split(text);
    std::string const result = groups.back();
    groups.pop_back();
    tree_cost const wanted = cheapest(c, groups, result, true);
    contraction_order const order = c.order();
    REQUIRE(order.fits);
    REQUIRE(order.positions == 2 * (operands - 1));
    CHECK(static_cast<double>(order.cost.operations) == wanted.operations);
    CHECK(static_cast<double>(order.cost.largest) == wanted.largest);
    CHECK(c.cost(order.position) == order.cost);
  }
}

TEST_CASE("beyond, each pair is the cheapest of its moment") {
  unsigned const seed = 7;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int number = 0; number < 40; ++number) {
    int const operands = 9 + number % 8;
    contraction c(random_text(random, operands, 12));
    for (std::int64_t& e : c.extent) e = 1 + static_cast<std::int64_t>(random() % 5);
    contraction_order const order = c.order();
    REQUIRE(order.fits);
    REQUIRE(order.positions == 2 * (operands - 1));
    CHECK(c.cost(order.position) == order.cost);
    remaining_operands left(c.operands, c.count, c.result);
    auto const size = [&](std::uint32_t mask) {
      double elements = 1;
      for (int id = 0; id < 32; ++id)
        if (mask >> id & 1) elements *= static_cast<double>(c.extent[id]);
      return elements;
    };
    auto const operations = [&](int i, int j) { return size(left.mask[i] | left.mask[j]); };
    auto const reduction = [&](int i, int j) {
      return size(left.mask[i]) + size(left.mask[j]) - size(left.kept(i, j));
    };
    for (int pair = 0; 2 * pair < order.positions; ++pair) {
      int const i = order.position[2 * pair];
      int const j = order.position[2 * pair + 1];
      REQUIRE(0 <= i);
      REQUIRE(i < j);
      REQUIRE(j < left.count);
      for (int q = 1; q < left.count; ++q)
        for (int p = 0; p < q; ++p) {
          CHECK(operations(i, j) <= operations(p, q));
          if (operations(i, j) == operations(p, q)) CHECK(reduction(i, j) >= reduction(p, q));
        }
      left.contract(i, j);
    }
  }
}

TEST_CASE("intermediates have at most 24 axes where an order allows that") {
  // The cheapest order is (ab)(cd), whose intermediates have 26.
  contraction c("");
  c.count = 4;
  std::uint32_t const x = 0x1fff;
  std::uint32_t const y = x << 13;
  std::uint32_t const s = std::uint32_t{1} << 26;
  std::uint32_t const t = std::uint32_t{1} << 27;
  c.operands[0] = x | s;
  c.operands[1] = y | s;
  c.operands[2] = x | t;
  c.operands[3] = y | t;
  for (int id = 0; id < 26; ++id) c.extent[id] = 1;
  c.extent[26] = c.extent[27] = 1000;
  std::int8_t const cheap[] = {0, 1, 0, 1, 0, 1};
  CHECK(c.cost(cheap).operations == 2001);
  contraction_order const order = c.order();
  REQUIRE(order.fits);
  CHECK(order.cost.operations == 2001000);
  remaining_operands left(c.operands, c.count, c.result);
  for (int pair = 0; pair < 3; ++pair) {
    left.contract(order.position[2 * pair], order.position[2 * pair + 1]);
    CHECK(std::popcount(left.mask[left.count - 1]) <= max_rank);
  }
  // 25 indices that all three operands have: no order keeps fewer.
  c.count = 3;
  for (std::uint32_t& operand : c.operands) operand = 0x1ffffff;
  CHECK(!c.order().fits);
  CHECK(c.order().positions == 0);
  c.count = 9;
  CHECK(!c.order().fits);
  CHECK(c.order().positions == 0);
}

TEST_CASE("the axes of an intermediate: batch, then each operand's own") {
  auto const axes = [](std::string const& a, std::string const& b, std::string const& kept) {
    std::int8_t ids[2][32] = {};
    for (std::size_t i = 0; i < a.size(); ++i) ids[0][i] = static_cast<std::int8_t>(a[i] - 'a');
    for (std::size_t i = 0; i < b.size(); ++i) ids[1][i] = static_cast<std::int8_t>(b[i] - 'a');
    std::uint32_t mask = 0;
    for (char const c : kept) mask |= std::uint32_t{1} << (c - 'a');
    std::int8_t to[32] = {};
    int const count = ricci::intermediate_axes(ids[0], static_cast<int>(a.size()), ids[1],
                                               static_cast<int>(b.size()), mask, to);
    std::string text;
    for (int i = 0; i < count; ++i) text += static_cast<char>('a' + to[i]);
    return text;
  };
  CHECK(axes("ab", "bc", "ac") == "ac");
  CHECK(axes("bc", "ab", "ac") == "ac");
  CHECK(axes("bqhd", "brhd", "bqhr") == "bhqr");
  CHECK(axes("aab", "b", "ab") == "ba");  // a diagonal
  CHECK(axes("ca", "cb", "ba") == "ab");
  CHECK(axes("a", "a", "") == "");
  CHECK(axes("ab", "", "ab") == "ab");
}
