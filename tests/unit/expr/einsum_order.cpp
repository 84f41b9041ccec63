// einsum of several operands: the order in which it contracts them, and what steers it.
#include "tests/unit/expr/values.hpp"
#include "tests/unit/graph/helpers.hpp"
#include "tests/unit/graph/spec.hpp"

#include <ricci/exec/threads.hpp>
#include <ricci/plan/order.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "src/graph/value.hpp"

using namespace ricci;
using graph_test::small_spec;
using testing::tally;
namespace g = ricci::graph;

namespace {

struct I : axis<"i", 10> {};
struct J : axis<"j", 1000> {};
struct K : axis<"k", 5> {};
struct L : axis<"l", 2000> {};
struct M : axis<"m", 3> {};
struct Row : axis<"row"> {};
struct Col : axis<"col"> {};
struct Mid : axis<"mid"> {};

int axis_id(axis_info const* axis) {
  int id = 0;
  while (axis != g::unnamed_axis(id)) ++id;
  return id;
}

// "ab,bc->ac" with an extent for each index, by id; each axis is that of its one index.
struct random_einsum {
  std::vector<std::vector<int>> groups;  // ids; the result's stand last
  std::vector<std::int64_t> extent;
  std::string text;

  random_einsum(std::mt19937& random, int operands) {
    int const letters = 4 + static_cast<int>(random() % 5);
    std::string const names = "abcdefgh";
    std::vector<int> used;
    std::string order;  // ids are given in order of appearance
    for (int x = 0; x < operands; ++x) {
      std::string group;
      for (unsigned i = random() % 4; i > 0; --i) {
        char const c = names[random() % static_cast<unsigned>(letters)];
        if (group.find(c) == std::string::npos) group += c;
        if (order.find(c) == std::string::npos) order += c;
      }
      text += (x > 0 ? "," : "") + group;
      groups.push_back(ids_of(group, order));
    }
    text += "->";
    std::string result;
    for (char const c : order)
      if (random() % 3 == 0) result += c;
    text += result;
    groups.push_back(ids_of(result, order));
    for (std::size_t i = 0; i < order.size(); ++i)
      extent.push_back(1 + static_cast<std::int64_t>(random() % 4));
  }

  static std::vector<int> ids_of(std::string const& group, std::string const& order) {
    std::vector<int> ids;
    for (char const c : group) ids.push_back(static_cast<int>(order.find(c)));
    return ids;
  }
  g::axes_view axes(std::vector<int> const& group) const {
    std::vector<axis_info const*> list;
    for (int const id : group) list.push_back(g::unnamed_axis(id));
    return g::intern(list.data(), static_cast<int>(list.size()));
  }
  std::int64_t size(std::vector<int> const& group) const {
    std::int64_t n = 1;
    for (int const id : group) n *= extent[static_cast<std::size_t>(id)];
    return n;
  }
  std::vector<g::handle> operands() const {
    std::vector<g::handle> x;
    for (std::size_t at = 0; at + 1 < groups.size(); ++at) {
      std::vector<std::int64_t> extents;
      for (int const id : groups[at]) extents.push_back(extent[static_cast<std::size_t>(id)]);
      x.push_back(g::make_leaf(dtype::f64, axes(groups[at]), extents.data()));
      auto const n =
          graph_test::varied(size(groups[at]), -1.5 + 0.1 * static_cast<double>(at), 1.5);
      std::copy(n.begin(), n.end(), static_cast<double*>(g::mutable_data(x.back())));
    }
    return x;
  }
  // Nested loops over all indices.
  std::vector<double> expected(std::vector<g::handle> const& x) const {
    std::vector<double> y(static_cast<std::size_t>(size(groups.back())), 0);
    std::vector<std::int64_t> at(extent.size(), 0);
    auto const offset = [&](std::vector<int> const& group) {
      std::int64_t place = 0;
      for (int const id : group)
        place = place * extent[static_cast<std::size_t>(id)] + at[static_cast<std::size_t>(id)];
      return place;
    };
    for (;;) {
      double product = 1;
      for (std::size_t i = 0; i < x.size(); ++i)
        product *= static_cast<double const*>(g::data(x[i]))[offset(groups[i])];
      y[static_cast<std::size_t>(offset(groups.back()))] += product;
      std::size_t id = 0;
      while (id < at.size() && ++at[id] == extent[id]) at[id++] = 0;
      if (id == at.size()) return y;
    }
  }
  std::uint32_t mask(std::vector<int> const& group) const {
    std::uint32_t bits = 0;
    for (int const id : group) bits |= std::uint32_t{1} << id;
    return bits;
  }
};

// Writes a path behind the groups of a spec.
void steer(g::pattern_spec& spec, std::vector<int> const& path) {
  spec.code[spec.code_size++] = 0;
  spec.code[spec.code_size++] = static_cast<std::int8_t>(path.size());
  for (int const position : path) spec.code[spec.code_size++] = static_cast<std::int8_t>(position);
}

// What a value that has not run will contract: the pairs of index sets, in no order, as text.
void record(g::handle const& y, std::vector<g::handle> const& leaves, std::uint32_t of,
            std::vector<std::string>& pairs) {
  for (auto const& leaf : leaves)
    if (leaf.get() == y.get()) return;
  std::uint32_t masks[2] = {0, 0};
  REQUIRE(y->input_count == 2);
  for (int i = 0; i < 2; ++i)
    for (int axis = 0; axis < y->inputs[i]->rank; ++axis)
      masks[i] |= std::uint32_t{1} << axis_id(y->inputs[i]->axes[axis]);
  std::uint32_t const low = std::min(masks[0], masks[1]);
  std::uint32_t const high = std::max(masks[0], masks[1]);
  pairs.push_back(std::to_string(low) + "*" + std::to_string(high) + "->" + std::to_string(of));
  for (int i = 0; i < 2; ++i) record(y->inputs[i], leaves, masks[i], pairs);
}

std::vector<std::string> pairs_of(g::handle const& y, std::vector<g::handle> const& leaves,
                                  std::uint32_t result) {
  std::vector<std::string> pairs;
  record(y, leaves, result, pairs);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

template <class Position>
std::vector<std::string> pairs_of(random_einsum const& e, Position const& position) {
  std::uint32_t masks[16] = {};
  int const count = static_cast<int>(e.groups.size()) - 1;
  for (int i = 0; i < count; ++i) masks[i] = e.mask(e.groups[static_cast<std::size_t>(i)]);
  remaining_operands left(masks, count, e.mask(e.groups.back()));
  std::vector<std::string> pairs;
  for (std::size_t at = 0; left.count > 1; at += 2) {
    int const i = position[at];
    int const j = position[at + 1];
    std::uint32_t const low = std::min(left.mask[i], left.mask[j]);
    std::uint32_t const high = std::max(left.mask[i], left.mask[j]);
    left.contract(i, j);
    pairs.push_back(std::to_string(low) + "*" + std::to_string(high) + "->" +
                    std::to_string(left.count == 1 ? left.result : left.mask[left.count - 1]));
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

auto chain_operands() {
  auto const key = random::key(3);
  return std::tuple(
      random::normal<f32, I, J>(key.fold("a")), random::normal<f32, J, K>(key.fold("b")),
      random::normal<f32, K, L>(key.fold("c")), random::normal<f32, L, M>(key.fold("d")));
}

}  // namespace

TEST_CASE("random einsums of 3 to 8 operands run in the cheapest order and equal nested loops") {
  unsigned const seed = 20240612;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int number = 0; number < 100; ++number) {
    random_einsum const e(random, 3 + number % 6);
    CAPTURE(e.text);
    std::vector<g::handle> const x = e.operands();
    std::vector<double> const expected = e.expected(x);
    std::uint32_t masks[16] = {};
    for (std::size_t i = 0; i < x.size(); ++i) masks[i] = e.mask(e.groups[i]);
    contraction_order const order =
        plan_order(masks, static_cast<int>(x.size()), e.mask(e.groups.back()), e.extent.data());
    small_spec const automatic(e.text);
    for (int again = 0; again < 2; ++again) {  // remembered the second time
      g::handle const y = g::einsum(automatic.spec, e.axes(e.groups.back()), x.data(), nullptr);
      CHECK(pairs_of(y, x, e.mask(e.groups.back())) == pairs_of(e, order.position));
      graph_test::check_close(graph_test::numbers(y), expected);
    }
    // Some order by hand.
    std::vector<int> path;
    for (unsigned left = static_cast<unsigned>(x.size()); left > 1; --left) {
      unsigned const first = random() % left;
      unsigned const second = (first + 1 + random() % (left - 1)) % left;
      path.push_back(static_cast<int>(std::min(first, second)));
      path.push_back(static_cast<int>(std::max(first, second)));
    }
    small_spec forced(e.text);
    steer(forced.spec, path);
    g::handle const y = g::einsum(forced.spec, e.axes(e.groups.back()), x.data(), nullptr);
    CHECK(pairs_of(y, x, e.mask(e.groups.back())) == pairs_of(e, path));
    graph_test::check_close(graph_test::numbers(y), expected);
  }
}

TEST_CASE("extents decide: the same code in two orders") {
  small_spec const spec("ab,bc,cd->ad");
  auto const run = [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    std::int64_t const extents[] = {a, b, c, d};
    std::vector<g::handle> x;
    for (int i = 0; i < 3; ++i) {
      axis_info const* const axes[] = {g::unnamed_axis(i), g::unnamed_axis(i + 1)};
      x.push_back(g::make_leaf(dtype::f64, g::intern(axes, 2), extents + i));
      std::fill_n(static_cast<double*>(g::mutable_data(x.back())), g::element_count(x.back()), 1);
    }
    axis_info const* const axes[] = {g::unnamed_axis(0), g::unnamed_axis(3)};
    g::handle const y = g::einsum(spec.spec, g::intern(axes, 2), x.data(), nullptr);
    bool const left_first = y->inputs[0].get() != x[0].get() && y->inputs[1].get() != x[0].get();
    CHECK(graph_test::numbers(y)[0] == static_cast<double>(b * c));
    return left_first;
  };
  CHECK(run(2, 100, 3, 50));
  CHECK(!run(100, 3, 50, 2));
  CHECK(run(2, 100, 3, 50));
}

TEST_CASE("more than eight operands, where greed alone would keep too many axes") {
  // b1 b2 b3 share 21 indices s, which are summed, and have u1 u2 u3; v1 v2 v3 have those and two
  // indices of the result each. The cheapest pairs, b1 v1 and so on, leave three values of 23 axes,
  // and two of them keep 25.
  std::string const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::string const s = letters.substr(0, 21);
  std::string const r = letters.substr(21, 6);
  std::string const u = letters.substr(27, 3);
  std::string text;
  std::map<char, std::int64_t> extents;
  for (char const c : s + r) extents[c] = 1;
  for (char const c : u) extents[c] = 10;
  // Axes of several factors, since a tensor has at most 24.
  for (int i = 0; i < 3; ++i) text += "(" + s + ")" + u[static_cast<std::size_t>(i)] + ",";
  for (int i = 0; i < 3; ++i)
    text += "(" + r.substr(static_cast<std::size_t>(2 * i), 2) + ")" +
            u[static_cast<std::size_t>(i)] + ",";
  text += ",,->(" + r + ")";
  small_spec const spec(text, extents);
  std::vector<g::handle> x;
  double expected = 1;
  for (int i = 0; i < 9; ++i) {
    axis_info const* const axes[] = {g::unnamed_axis(0), g::unnamed_axis(1 + i)};
    std::int64_t const sizes[] = {1, 10};
    x.push_back(g::make_leaf(dtype::f64, g::intern(axes, i < 6 ? 2 : 0), sizes));
    double* const to = static_cast<double*>(g::mutable_data(x.back()));
    for (int k = 0; k < (i < 6 ? 10 : 1); ++k) to[k] = 1 + i;
    expected *= (1 + i) * (i < 3 ? 10 : 1);
  }
  std::uint32_t masks[g::max_operands + 1];
  spec.spec.read_masks(masks);
  CHECK(!plan_order(masks, 9, masks[9], spec.spec.extent).fits);
  axis_info const* const axes[] = {g::unnamed_axis(0)};
  g::handle const y = g::einsum(spec.spec, g::intern(axes, 1), x.data(), nullptr);
  CHECK(graph_test::numbers(y) == std::vector<double>{expected});
}

TEST_CASE("more than 24 indices at once in every order") {
  std::string const all = "(abcdefghijklmnopqrstuvwxy)";
  std::map<char, std::int64_t> extents;
  for (char c = 'a'; c <= 'y'; ++c) extents[c] = 1;
  small_spec const spec(all + "," + all + "," + all + "->" + all, extents);
  axis_info const* const axes[] = {g::unnamed_axis(0)};
  std::int64_t const one = 1;
  g::handle const x = g::make_leaf(dtype::f64, g::intern(axes, 1), &one);
  g::handle const operands[] = {x, x, x};
  std::string const said = testing::sentence<value_error>(
      [&] { g::einsum(spec.spec, g::intern(axes, 1), operands, nullptr); });
  CHECK(testing::has(said, {"einsum: more than 24 indices are needed at once"}));
}

TEST_CASE("a chain of four matrices, and orders by hand") {
  auto const [a, b, c, d] = chain_operands();
  auto const in_f64 = [](auto const& x) { return to<f64>(x); };
  tensor ab = einsum<"i j, j k -> i k">(in_f64(a), in_f64(b));
  tensor abc = einsum<"i k, k l -> i l">(ab, in_f64(c));
  tensor expected = einsum<"i l, l m -> i m">(abc, in_f64(d));
  double scale = 0;
  for (double const n : testing::numbers(expected)) scale = std::max(scale, std::abs(n));
  auto const check = [&](auto const& y) {
    auto const got = testing::numbers(y);
    auto const wanted = testing::numbers(expected);
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      CHECK(std::abs(got[i] - wanted[i]) <= 1e-5 * scale);  // f32 sums of 1000 and 2000 terms
    }
  };
  constexpr auto pattern = fixed_string("i j, j k, k l, l m -> i m");
  auto const biggest = [](auto const& e) {
    std::int64_t most = 0;
    auto const visit = [&](auto const& self, g::handle const& y) -> void {
      for (int i = 0; i < y->input_count; ++i) {
        if (y->inputs[i]->input_count > 0) most = std::max(most, y->inputs[i]->count);
        self(self, y->inputs[i]);
      }
    };
    visit(visit, e.handle());
    return most;
  };
  auto best = einsum<pattern>(a, b, c, d);
  CHECK(biggest(best) == 1000 * 3);
  check(std::move(best));
  auto by_hand = einsum<pattern, path<0, 1, 2, 0, 1, 0>>(a, b, c, d);
  CHECK(biggest(by_hand) == 10 * 2000);
  check(std::move(by_hand));
  auto middle = einsum<pattern, path<1, 2, 0, 2, 0, 1>>(a, b, c, d);
  CHECK(biggest(middle) == 1000 * 2000);
  check(std::move(middle));
}

TEST_CASE("a lowering by hand is what runs") {
  auto const key = random::key(5);
  tensor x = random::normal<f32, Row, Mid>(key.fold("x"), Row{64}, Mid{72});
  tensor w = random::normal<f32, Mid, Col>(key.fold("w"), Mid{72}, Col{80});
  tensor expected = einsum<"row mid, mid col -> row col">(to<f64>(x), to<f64>(w));
  auto const run = [&]<class... Steer>(pack<Steer...>) {
    tally ran;
    tensor y = einsum<"row mid, mid col -> row col", Steer...>(x, w);
    graph_test::check_close(testing::numbers(y), testing::numbers(expected), 1e-4);
    return std::vector<std::int64_t>{ran.gemms(), ran.small(), ran.packs()};
  };
  using counts = std::vector<std::int64_t>;
  CHECK(run(pack<lowering::loops>{}) == counts{0, 1, 0});
  CHECK(run(pack<lowering::gemm>{}) == counts{1, 0, 0});
  CHECK(run(pack<lowering::pack_first_gemm>{}) == counts{1, 0, 1});
  CHECK(run(pack<lowering::pack_gemm, path<0, 1>>{}) == counts{1, 0, 2});
  CHECK(run(pack<lowering::pack_gemm_permute>{}) == counts{1, 0, 3});
  CHECK(run(pack<lowering::automatic>{}) == run(pack<>{}));
  // Also at the end of a statement, with an epilogue.
  tally ran;
  tensor y = relu(einsum<"row mid, mid col -> row col", lowering::pack_second_gemm>(x, w));
  CHECK(ran.gemms() == 1);
  CHECK(ran.packs() == 1);
  graph_test::check_close(testing::numbers(y), testing::numbers(relu(expected)), 1e-4);
}

TEST_CASE("gradients of einsums of several operands, in any order") {
  using namespace graph_test;
  for (std::vector<int> const& path : {std::vector<int>{}, std::vector<int>{0, 1, 0, 1, 0, 1},
                                       std::vector<int>{1, 3, 0, 1, 0, 1}}) {
    small_spec spec("ab,bc,acd,d->cb");
    if (!path.empty()) ::steer(spec.spec, path);
    check_gradients(
        [&](std::vector<g::handle> const& x) {
          return g::einsum(spec.spec, axes<C, B>(), x.data(), nullptr);
        },
        {make<A, B>({3, 2}), make<B, C>({2, 4}), make<A, C, D>({3, 4, 2}), make<D>({2})});
  }
}

TEST_CASE("the bits do not depend on the number of threads") {
  auto const [a, b, c, d] = chain_operands();
  int const before = threads();
  std::vector<std::vector<f32>> bits;
  for (int const n : {1, 2, 3}) {
    set_threads(n);
    bits.push_back(testing::list(einsum<"i j, j k, k l, l m -> i m">(a, b, c, d)));
  }
  set_threads(before);
  CHECK(bits[0] == bits[1]);
  CHECK(bits[0] == bits[2]);
}
