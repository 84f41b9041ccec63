// Random tensors: a function of the key alone, moments, permutations, bounds.
#include "tests/unit/expr/values.hpp"

#include <ricci/exec/threads.hpp>

#include <algorithm>
#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct N : axis<"n"> {};
struct M : axis<"m"> {};
struct Four : axis<"four", 4> {};

struct moments {
  double mean = 0, deviation = 0, low = 0, high = 0;
  explicit moments(doubles const& v) {
    for (double const x : v) mean += x / static_cast<double>(v.size());
    for (double const x : v) deviation += (x - mean) * (x - mean) / static_cast<double>(v.size());
    deviation = std::sqrt(deviation);
    low = *std::min_element(v.begin(), v.end());
    high = *std::max_element(v.begin(), v.end());
  }
};

}  // namespace

TEST_CASE("the same key gives the same numbers, another one others") {
  random::key const key(42);
  auto const draw = [](random::key k) { return list(random::normal<f32, N, Four>(k, N{50})); };
  CHECK(draw(key) == draw(key));
  CHECK(draw(key) != draw(random::key(43)));
  CHECK(draw(key.fold("a")) != draw(key.fold("b")));
  CHECK(draw(key.fold("dropout", 1, 2)) == draw(key.fold("dropout").fold(1).fold(2)));
  CHECK(draw(key.fold("dropout", 1, 2)) != draw(key.fold("dropout", 2, 1)));
  CHECK(draw(key.fold(1)) != draw(key.fold("1")));
  // Element i depends on the key and i alone: the shape does not matter.
  CHECK(list(random::normal<f32, N>(key, N{200})) == draw(key));
  CHECK(list(slice<N>(random::uniform<f32, N>(key, N{1000}), 0, 10)) ==
        list(random::uniform<f32, N>(key, N{10})));
}

TEST_CASE("the same numbers at any thread count") {
  random::key const key(7);
  int const before = threads();
  auto const all = [&] {
    std::vector<doubles> v;
    v.push_back(numbers(random::normal<f32, N>(key, N{100003})));
    v.push_back(numbers(random::uniform<f64, N>(key, N{50001})));
    v.push_back(numbers(random::truncated_normal<bf16, N>(key, N{50001})));
    v.push_back(numbers(random::permutation<i32, N>(key, N{70001})));
    v.push_back(numbers(random::bernoulli<N>(key, 0.3, N{70001})));
    return v;
  };
  set_threads(1);
  auto const one = all();
  set_threads(2);
  CHECK(all() == one);
  set_threads(3);
  CHECK(all() == one);
  set_threads(before);
}

TEST_CASE("moments and bounds") {
  random::key const key(1);
  moments const normal(numbers(random::normal<f32, N>(key, N{200000})));
  CHECK(std::abs(normal.mean) < 0.01);
  CHECK(normal.deviation == doctest::Approx(1).epsilon(0.01));
  CHECK(normal.high > 3.5);
  moments const uniform(numbers(random::uniform<f32, N>(key, N{200000})));
  CHECK(uniform.mean == doctest::Approx(0.5).epsilon(0.01));
  CHECK(uniform.deviation == doctest::Approx(std::sqrt(1.0 / 12)).epsilon(0.01));
  CHECK(uniform.low >= 0);
  CHECK(uniform.high < 1);
  moments const cut(numbers(random::truncated_normal<f32, N>(key, N{200000})));
  CHECK(std::abs(cut.mean) < 0.01);
  // The deviation of a standard normal cut at 2: sqrt(1 - 4 phi(2) / (2 Phi(2) - 1)).
  CHECK(cut.deviation == doctest::Approx(0.8796).epsilon(0.01));
  CHECK(cut.low >= -2);
  CHECK(cut.high <= 2);
  moments const coin(numbers(random::bernoulli<N>(key, 0.25, N{200000})));
  CHECK(coin.mean == doctest::Approx(0.25).epsilon(0.02));
  // Below 1 stays below 1 when it is rounded to a narrow float.
  CHECK(moments(numbers(random::uniform<bf16, N>(key, N{100000}))).high < 1);
  CHECK(moments(numbers(random::uniform<f16, N>(key, N{100000}))).high < 1);
}

TEST_CASE("a permutation has every position once") {
  for (int n : {0, 1, 2, 3, 17, 1000, 4096, 100000}) {
    tensor p = random::permutation<i64, N>(random::key(static_cast<std::uint64_t>(n)), N{n});
    auto sorted = list(p);
    std::sort(sorted.begin(), sorted.end());
    bool each = static_cast<int>(sorted.size()) == n;
    for (int i = 0; each && i < n; ++i) each = sorted[static_cast<std::size_t>(i)] == i;
    CHECK(each);
  }
  CHECK(list(random::permutation<i32, N>(random::key(1), N{1000})) != list(iota<i32, N>(N{1000})));
  CHECK(list(random::permutation<i32, N>(random::key(1), N{1000})) !=
        list(random::permutation<i32, N>(random::key(2), N{1000})));
  static_assert(same<decltype(random::permutation<i32, Four>(random::key(1))), tensor<i32, Four>>);
  // All orders of three come up about equally often.
  int count[3][3]{};
  for (int k = 0; k < 3000; ++k) {
    tensor p = random::permutation<i32, M>(random::key(9).fold(k), M{3});
    for (int i = 0; i < 3; ++i) ++count[i][p(M{i})];
  }
  for (auto const& row : count)
    for (int const c : row) CHECK(std::abs(c - 1000) < 130);
}

TEST_CASE("probabilities that are none") {
  CHECK_THROWS_AS((void)random::bernoulli<N>(random::key(1), 1.5, N{3}), value_error);
  CHECK_THROWS_AS((void)random::bernoulli<N>(random::key(1), -0.5, N{3}), value_error);
  CHECK_THROWS_AS((void)random::bernoulli<N>(random::key(1), not_a_number, N{3}), value_error);
  CHECK(numbers(random::bernoulli<N>(random::key(1), 1, N{3})) == doubles{1, 1, 1});
  CHECK(numbers(random::bernoulli<N>(random::key(1), 0, N{3})) == doubles{0, 0, 0});
}
