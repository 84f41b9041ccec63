#include "kernels/random/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include <ricci/error/exceptions.hpp>

#include "kernels/parallel/parallel.hpp"
#include "kernels/random/philox.hpp"
#include "kernels/random/transform.hpp"
#include "tests/unit/kernels/same_bytes.hpp"

namespace {

using namespace ricci;
using namespace ricci::kernels;

constexpr random::key seed(20240607);

// Known-answer vectors of Random123 1.14 (tests/kat_vectors, philox4x32 10).
static_assert(philox({{0, 0, 0, 0}}, 0) ==
              philox_words{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
static_assert(philox({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, 0xffffffffffffffff) ==
              philox_words{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
static_assert(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822) ==
              philox_words{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});

template <class T> std::vector<f64> widened(std::vector<T> const& values) {
  std::vector<f64> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(),
                 [](T x) { return static_cast<f64>(x); });
  return out;
}

// The largest distance between the distribution of the values and `cdf`, times sqrt(n). It
// exceeds 1.95 with probability 0.001 (Kolmogorov); the seeds are fixed.
template <class F> f64 kolmogorov(std::vector<f64> values, F cdf) {
  std::sort(values.begin(), values.end());
  f64 const n = static_cast<f64>(values.size());
  f64 distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    f64 const p = cdf(values[i]);
    distance = std::max({distance, std::abs(p - static_cast<f64>(i) / n),
                         std::abs(p - static_cast<f64>(i + 1) / n)});
  }
  return distance * std::sqrt(n);
}

f64 normal_cdf(f64 z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

f64 mean_of(std::vector<f64> const& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<f64>(values.size());
}

f64 moment(std::vector<f64> const& values, f64 mean, int power) {
  f64 sum = 0;
  for (f64 const x : values) sum += std::pow(x - mean, power);
  return sum / static_cast<f64>(values.size());
}

template <class T> std::vector<T> filled(i64 count, auto fill) {
  std::vector<T> out(static_cast<std::size_t>(count) + 1);
  std::memset(static_cast<void*>(out.data()), 0x5a, out.size() * sizeof(T));
  T const guard = out.back();
  fill(static_cast<void*>(out.data()), dtype_of<T>, count);
  REQUIRE(same_bytes(&out.back(), &guard, sizeof(T)));
  out.pop_back();
  return out;
}

TEST_CASE("groups of words are the words of their elements") {
  for (i64 const group :
       {i64{0}, i64{1}, i64{77}, (i64{1} << 28) - 1, i64{1} << 28, i64{1} << 40}) {
    std::uint32_t words[64];
    std::uint64_t pairs[32];
    random_words(seed.state(), group, words);
    random_pairs(seed.state(), group, pairs);
    int wrong = 0;
    for (int r = 0; r < 64; ++r) wrong += words[r] != random_word(seed.state(), 64 * group + r);
    for (int r = 0; r < 32; ++r) wrong += pairs[r] != random_pair(seed.state(), 32 * group + r);
    CAPTURE(group);
    CHECK(wrong == 0);
  }
}

TEST_CASE("the normal quantile is the inverse of the normal distribution") {
  // In the lower tail the relative error of p is that of z times z^2 or so.
  f64 worst32 = 0, worst64 = 0;
  std::uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    int const shift = i % 60;
    std::uint64_t const pair = std::uint64_t{1} << 63 | (state >> 1 >> shift);
    f64 const m = static_cast<f64>(pair & ~(std::uint64_t{1} << 63));
    f64 const z = normal_value(pair);
    REQUIRE(z < 0);
    REQUIRE(normal_value(pair ^ std::uint64_t{1} << 63) == -z);
    worst64 = std::max(worst64, std::abs(normal_cdf(z) / ((m + 0.5) * 0x1p-64) - 1) / (1 + z * z));

    std::uint32_t const word = 0x80000000u | static_cast<std::uint32_t>(state >> 33 >> shift % 31);
    f64 const m32 = static_cast<f64>(word & 0x7fffffffu);
    f64 const z32 = static_cast<f64>(normal_value(word));
    worst32 = std::max(worst32,
                       std::abs(normal_cdf(z32) / ((m32 + 0.5) * 0x1p-32) - 1) / (1 + z32 * z32));
    REQUIRE(normal_value(word ^ 0x80000000u) == static_cast<f32>(-z32));
  }
  CHECK(worst64 < 1e-15);
  CHECK(worst32 < 4e-7);
  CHECK(normal_value(std::uint64_t{0}) == doctest::Approx(9.08).epsilon(0.01));
  CHECK(normal_value(std::uint32_t{0}) == doctest::Approx(6.34).epsilon(0.01));
  CHECK(normal_quantile(0.5) == doctest::Approx(0).epsilon(1e-12));
  CHECK(normal_quantile(0.975) == doctest::Approx(1.959963984540054));
  CHECK(normal_quantile(0.025) == doctest::Approx(-1.959963984540054));
  CHECK(std::isfinite(normal_quantile(0.0)));
  CHECK(std::isfinite(normal_quantile(1.0)));
}

// The kernels are vectorized and use fused instructions; this file may have neither.
TEST_CASE_TEMPLATE("kernels give the bits of the scalar definition", T, f32, f64, bf16, f16) {
  using bits = std::conditional_t<std::is_same_v<T, f64>, std::uint64_t, std::uint32_t>;
  using computed = std::conditional_t<std::is_same_v<T, f64>, f64, f32>;
  auto const draw = [](i64 i) -> bits {
    if constexpr (sizeof(bits) == 8)
      return random_pair(seed.state(), i);
    else
      return random_word(seed.state(), i);
  };
  i64 const count = 5003;
  auto const normal = filled<T>(
      count, [](void* to, dtype type, i64 n) { fill_normal(seed, to, type, n, 1.5, 0.3); });
  auto const uniform =
      filled<T>(count, [](void* to, dtype type, i64 n) { fill_uniform(seed, to, type, n, -1, 2); });
  int wrong = 0;
  for (i64 i = 0; i < count; ++i) {
    std::size_t const at = static_cast<std::size_t>(i);
    computed const z = normal_value(draw(i));
    wrong += !(normal[at] == T(std::fma(computed(0.3), z, computed(1.5))));
    T const u(std::fma(uniform_value(draw(i)), computed(3), computed(-1)));
    if (static_cast<f64>(u) < 2) wrong += !(uniform[at] == u);
  }
  CHECK(wrong == 0);
}

// FNV-1a of the bytes.
std::uint64_t hash_of(auto const& values) {
  std::vector<unsigned char> bytes(values.size() * sizeof(values[0]));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char const byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

TEST_CASE("fills are fixed for good, whatever the compiler") {
  auto const normal = [](void* to, dtype type, i64 n) { fill_normal(seed, to, type, n, 0, 1); };
  auto const uniform = [](void* to, dtype type, i64 n) { fill_uniform(seed, to, type, n, 0, 3); };
  auto const cut = [](void* to, dtype type, i64 n) {
    fill_truncated_normal(seed, to, type, n, 0, 1, -2, 3);
  };
  CHECK(hash_of(filled<f32>(10000, normal)) == 11265351635238800854u);
  CHECK(hash_of(filled<f64>(10000, normal)) == 12281374661593673272u);
  CHECK(hash_of(filled<f32>(10000, uniform)) == 7928102227860170844u);
  CHECK(hash_of(filled<f64>(10000, cut)) == 12625385445156502513u);
}

TEST_CASE_TEMPLATE("uniform: distribution, moments, bounds", T, f32, f64, bf16, f16) {
  auto const values = widened(filled<T>(100000, [](void* to, dtype type, i64 n) {
    fill_uniform(seed.fold("uniform"), to, type, n, -3, 5);
  }));
  auto const [least, most] = std::minmax_element(values.begin(), values.end());
  CHECK(*least >= -3);
  CHECK(*most < 5);
  CHECK(*least < -2.99);
  CHECK(*most > 4.9);
  f64 const mean = mean_of(values);
  CHECK(std::abs(mean - 1) < 4 * 8 / std::sqrt(12.0 * 1e5) + (sizeof(T) == 2 ? 0.003 : 0));
  CHECK(moment(values, mean, 2) == doctest::Approx(64.0 / 12).epsilon(0.01));
  if (sizeof(T) > 2) CHECK(kolmogorov(values, [](f64 x) { return (x + 3) / 8; }) < 1.95);
}

TEST_CASE("uniform: narrow and empty ranges") {
  auto const range = [](auto type, f64 low, f64 high) {
    using T = typename decltype(type)::type;
    auto const values = widened(filled<T>(
        3000, [=](void* to, dtype d, i64 n) { fill_uniform(seed, to, d, n, low, high); }));
    return std::pair(*std::min_element(values.begin(), values.end()),
                     *std::max_element(values.begin(), values.end()));
  };
  using narrow = std::type_identity<bf16>;
  CHECK(range(narrow{}, 1, 1) == std::pair(1.0, 1.0));
  CHECK(range(narrow{}, 1, 1.0078125) == std::pair(1.0, 1.0));  // one unit of bf16
  CHECK(range(narrow{}, -1, 0).second < 0);
  CHECK(range(std::type_identity<f16>{}, 0, 1).second == 1 - 0x1p-11);
  CHECK(range(std::type_identity<f32>{}, 1, 1 + 0x1p-23) == std::pair(1.0, 1.0));
  CHECK(range(std::type_identity<f8_e4m3>{}, 0, 1).second == 0.9375);
}

TEST_CASE_TEMPLATE("normal: distribution, moments", T, f32, f64, bf16, f16) {
  auto const values = widened(filled<T>(100000, [](void* to, dtype type, i64 n) {
    fill_normal(seed.fold("normal"), to, type, n, 2, 3);
  }));
  f64 const mean = mean_of(values);
  f64 const variance = moment(values, mean, 2);
  CHECK(std::abs(mean - 2) < 4 * 3 / std::sqrt(1e5));
  CHECK(variance == doctest::Approx(9).epsilon(0.02));
  CHECK(std::abs(moment(values, mean, 3) / std::pow(variance, 1.5)) < 0.04);
  CHECK(moment(values, mean, 4) / (variance * variance) == doctest::Approx(3).epsilon(0.03));
  if (sizeof(T) > 2)
    CHECK(kolmogorov(values, [](f64 x) { return normal_cdf((x - 2) / 3); }) < 1.95);
  // Neighbours, and elements a group apart, are independent: correlations of 1 / sqrt(n).
  for (std::size_t const lag : {1, 16, 32, 64}) {
    f64 sum = 0;
    for (std::size_t i = lag; i < values.size(); ++i)
      sum += (values[i] - mean) * (values[i - lag] - mean);
    CHECK(std::abs(sum / variance / 1e5) < 0.015);
  }
}

TEST_CASE_TEMPLATE("truncated normal: distribution and bounds on either side", T, f32, f64, bf16) {
  struct interval {
    f64 low, high;
  };
  f64 const infinity = std::numeric_limits<f64>::infinity();
  for (auto const [low, high] :
       {interval{-3, 7}, interval{4, 6}, interval{-9, -4}, interval{14, 20}, interval{1, infinity},
        interval{-infinity, -2}, interval{-infinity, infinity}, interval{0.1, 0.3}}) {
    CAPTURE(low);
    CAPTURE(high);
    auto const values = widened(filled<T>(20000, [=](void* to, dtype type, i64 n) {
      fill_truncated_normal(seed.fold("truncated"), to, type, n, 1, 2, low, high);
    }));
    CHECK(*std::min_element(values.begin(), values.end()) >= low);
    CHECK(*std::max_element(values.begin(), values.end()) <= high);
    if (sizeof(T) == 2) continue;
    // Above the mean the distribution from the far side keeps its digits.
    f64 const sign = low > 1 ? -1 : 1;
    f64 const from = normal_cdf(sign * (low - 1) / 2);
    f64 const to = normal_cdf(sign * (high - 1) / 2);
    CHECK(kolmogorov(values, [=](f64 x) {
            return (normal_cdf(sign * (x - 1) / 2) - from) / (to - from);
          }) < 1.95);
  }
  // Too far out for any probability: the nearer bound.
  auto const far = widened(filled<T>(100, [](void* to, dtype type, i64 n) {
    fill_truncated_normal(seed, to, type, n, 0, 1, 64, 128);
  }));
  CHECK(*std::max_element(far.begin(), far.end()) == 64);
}

TEST_CASE("bernoulli: frequency, certain and impossible") {
  auto const draw = [](f64 p, i64 count) {
    std::vector<unsigned char> out(static_cast<std::size_t>(count));
    fill_bernoulli(seed.fold("bernoulli"), out.data(), count, p);
    return std::accumulate(out.begin(), out.end(), 0.0) / static_cast<f64>(count);
  };
  CHECK(draw(0, 10000) == 0);
  CHECK(draw(1, 10000) == 1);
  CHECK(draw(0.5, 100000) == doctest::Approx(0.5).epsilon(0.02));
  CHECK(draw(0.1, 100000) == doctest::Approx(0.1).epsilon(0.04));
  CHECK_THROWS_AS(draw(1.5, 1), value_error);
  CHECK_THROWS_AS(draw(std::nan(""), 1), value_error);
}

TEST_CASE("an element depends on neither the count nor the threads") {
  i64 const many = 70001;
  auto const normal = [](void* to, dtype type, i64 n) { fill_normal(seed, to, type, n, 0, 1); };
  auto const numbers = [](void* to, dtype type, i64 n) {
    fill_integers(seed, to, type, n, 0, (i64{1} << 31) + 1);  // half of the draws are refused
  };
  auto const cut = [](void* to, dtype type, i64 n) {
    fill_truncated_normal(seed, to, type, n, 0, 1, -2, 2);
  };
  int const before = threads();
  set_threads(1);
  auto const all = filled<f32>(many, normal);
  auto const all_numbers = filled<i64>(many, numbers);
  auto const all_cut = filled<f32>(many, cut);
  auto const order =
      filled<i64>(many, [](void* to, dtype type, i64 n) { fill_permutation(seed, to, type, n); });
  set_threads(2);
  for (i64 const count :
       {i64{0}, i64{1}, i64{31}, i64{33}, i64{64}, i64{16385}, i64{40000}, many}) {
    auto const same = [count](auto const& part, auto const& whole) {
      return same_bytes(part.data(), whole.data(),
                         static_cast<std::size_t>(count) * sizeof(part[0]));
    };
    CAPTURE(count);
    CHECK(same(filled<f32>(count, normal), all));
    CHECK(same(filled<i64>(count, numbers), all_numbers));
    CHECK(same(filled<f32>(count, cut), all_cut));
  }
  CHECK(order == filled<i64>(many, [](void* to, dtype type, i64 n) {
          fill_permutation(seed, to, type, n);
        }));
  set_threads(before);
}

TEST_CASE("parameters that make no sense are refused") {
  f64 const infinity = std::numeric_limits<f64>::infinity();
  f32 out[4];
  CHECK_THROWS_AS(fill_uniform(seed, out, dtype::f32, -1, 0, 1), value_error);
  CHECK_THROWS_AS(fill_uniform(seed, out, dtype::i32, 1, 0, 1), value_error);
  CHECK_THROWS_AS(fill_uniform(seed, out, dtype::f32, 1, 1, 0), value_error);
  CHECK_THROWS_AS(fill_uniform(seed, out, dtype::f32, 1, 0, infinity), value_error);
  CHECK_THROWS_AS(fill_uniform(seed, out, dtype::f32, 1, -3e38, 3e38), value_error);
  CHECK_THROWS_AS(fill_uniform(seed, out, dtype::f16, 1, 0, 1e5), value_error);
  CHECK_THROWS_AS(fill_normal(seed, out, dtype::f32, 1, 0, -1), value_error);
  CHECK_THROWS_AS(fill_normal(seed, out, dtype::f32, 1, std::nan(""), 1), value_error);
  CHECK_THROWS_AS(fill_truncated_normal(seed, out, dtype::f32, 1, 0, 0, -1, 1), value_error);
  CHECK_THROWS_AS(fill_truncated_normal(seed, out, dtype::f32, 1, 0, 1, 1, -1), value_error);
  CHECK_THROWS_AS(fill_truncated_normal(seed, out, dtype::f32, 1, 0, 1, infinity, infinity),
                  value_error);
  CHECK_THROWS_AS(fill_integers(seed, out, dtype::i32, 1, 3, 3), value_error);
  CHECK_THROWS_AS(fill_integers(seed, out, dtype::u8, 1, 0, 257), value_error);
  CHECK_THROWS_AS(fill_integers(seed, out, dtype::f32, 1, 0, 2), value_error);
  CHECK_THROWS_AS(fill_permutation(seed, out, dtype::i16, 1), value_error);
  CHECK_THROWS_AS(fill_permutation(seed, out, dtype::i32, (i64{1} << 31) + 1), value_error);
  fill_integers(seed, out, dtype::u8, 0, 0, 256);
}

}  // namespace
