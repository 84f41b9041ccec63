// attention against softmax of einsum: orders of axes, masks, more keys than queries, dtypes,
// errors.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Head : axis<"head"> {};
struct Query : axis<"query"> {};
struct Key : axis<"key"> {};
struct D : axis<"d"> {};

template <class Q, class K, class V>
auto composed(Q const& q, K const& k, V const& v, mask seen, double scale) {
  tensor scores =
      einsum<"batch head query d, batch head key d -> batch head query key">(q, k) * scale;
  if (seen == mask::causal) {
    auto const shape = scores.shape();
    std::int64_t const queries = shape.template extent<Query>();
    std::int64_t const keys = shape.template extent<Key>();
    tensor row = iota<i64, Query>(Query{queries}) + (keys - queries);
    tensor seen_keys = broadcast<Query>(iota<i64, Key>(Key{keys}), Query{queries}) <= row;
    scores = where(seen_keys, scores, -std::numeric_limits<double>::infinity());
  }
  tensor y = einsum<"batch head query key, batch head key d -> batch head query d">(
      softmax<Key>(scores), v);
  return y;
}

auto values(std::uint64_t key, int extent) {
  return random::normal<f64, Batch, Head, Query, D>(random::key(key), Batch{2}, Head{3},
                                                    Query{extent}, D{5});
}
auto keys_of(std::uint64_t key, int extent) {
  return random::normal<f64, Batch, Head, Key, D>(random::key(key), Batch{2}, Head{3}, Key{extent},
                                                  D{5});
}
void check_near(doubles const& a, doubles const& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= tolerance);
}

}  // namespace

TEST_CASE("like the composition, with and without a causal mask") {
  for (auto const& [queries, keys] : {std::pair{7, 7}, {1, 9}, {4, 9}, {65, 65}, {3, 130}}) {
    tensor q = values(1, queries);
    tensor k = keys_of(2, keys);
    tensor v = keys_of(3, keys);
    for (mask const seen : {mask::none, mask::causal}) {
      tensor y = attention<Query, Key, D>(q, k, v, seen);
      static_assert(same<decltype(y), tensor<f64, Batch, Head, Query, D>>);
      check_near(numbers(y), numbers(composed(q, k, v, seen, 1 / std::sqrt(5.0))), 1e-12);
      check_near(numbers(attention<Query, Key, D>(q, k, v, seen, 0.3)),
                 numbers(composed(q, k, v, seen, 0.3)), 1e-12);
    }
  }
}

TEST_CASE("the order of axes is free in each operand, the result has the queries'") {
  tensor q = values(1, 6);
  tensor k = keys_of(2, 8);
  tensor v = keys_of(3, 8);
  auto const expected = numbers(attention<Query, Key, D>(q, k, v));
  tensor y =
      attention<Query, Key, D>(permute<Batch, Query, Head, D>(q), permute<Key, D, Batch, Head>(k),
                               permute<Head, Batch, Key, D>(v));
  static_assert(same<decltype(y), tensor<f64, Batch, Query, Head, D>>);
  check_near(numbers(permute<Batch, Head, Query, D>(y)), expected, 1e-12);
  tensor z = attention<Query, Key, D>(tensor(permute<D, Query, Head, Batch>(q)), k, v);
  static_assert(same<decltype(z), tensor<f64, D, Query, Head, Batch>>);
  check_near(numbers(permute<Batch, Head, Query, D>(z)), expected, 1e-12);
  // Expressions as operands.
  check_near(numbers(attention<Query, Key, D>(q * 1, k * 1, v * 1)), expected, 1e-12);
}

TEST_CASE("no batch axes, f32, bf16 and f16") {
  tensor q = random::normal<f32, Query, D>(random::key(1), Query{70}, D{16});
  tensor k = random::normal<f32, Key, D>(random::key(2), Key{70}, D{16});
  tensor v = random::normal<f32, Key, D>(random::key(3), Key{70}, D{16});
  auto const wide =
      numbers(attention<Query, Key, D>(to<f64>(q), to<f64>(k), to<f64>(v), mask::causal));
  check_near(numbers(attention<Query, Key, D>(q, k, v, mask::causal)), wide, 2e-6);
  auto const narrow = [&]<class T>(double tolerance) {
    tensor y = attention<Query, Key, D>(to<T>(q), to<T>(k), to<T>(v), mask::causal);
    static_assert(same<decltype(y), tensor<T, Query, D>>);
    check_near(numbers(y), wide, tolerance);
  };
  narrow.operator()<bf16>(0.04);
  narrow.operator()<f16>(0.006);
  narrow.operator()<f8_e4m3>(0.5);
}

TEST_CASE("extents 0 and 1") {
  tensor one = attention<Query, Key, D>(values(1, 1), keys_of(2, 1), keys_of(3, 1));
  check_near(numbers(one), numbers(keys_of(3, 1)), 1e-14);
  CHECK(numbers(attention<Query, Key, D>(values(1, 0), keys_of(2, 3), keys_of(3, 3))).empty());
  // Nothing to attend to: zeros.
  CHECK(numbers(attention<Query, Key, D>(values(1, 2), keys_of(2, 0), keys_of(3, 0))) ==
        doubles(60));
  // Fewer keys than queries under a causal mask: the first queries see none.
  auto const early =
      numbers(attention<Query, Key, D>(values(1, 3), keys_of(2, 1), keys_of(3, 1), mask::causal));
  CHECK(doubles(early.begin(), early.begin() + 10) == doubles(10));
}

TEST_CASE("extents that differ") {
  tensor q = values(1, 3);
  CHECK(has(sentence([&] { (void)attention<Query, Key, D>(q, keys_of(2, 4), keys_of(3, 5)); }),
            {"attention", "`key`", "4", "5", "operand 2", "operand 3"}));
  tensor other =
      random::normal<f64, Batch, Head, Key, D>(random::key(1), Batch{2}, Head{4}, Key{4}, D{5});
  CHECK(has(sentence([&] { (void)attention<Query, Key, D>(q, other, other); }),
            {"attention", "`head`", "3", "4", "operand 1", "operand 2"}));
  tensor wide =
      random::normal<f64, Batch, Head, Key, D>(random::key(1), Batch{2}, Head{3}, Key{4}, D{6});
  CHECK(has(sentence([&] { (void)attention<Query, Key, D>(q, keys_of(2, 4), wide); }),
            {"attention", "`d`", "5", "6", "operand 3"}));
}
