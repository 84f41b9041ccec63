#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/random/philox.hpp"
#include "kernels/random/random.hpp"
#include "tests/unit/kernels/same_bytes.hpp"

// The fills of integers and permutations; the floats are in random.cpp.

namespace {

using namespace ricci;
using namespace ricci::kernels;

constexpr random::key seed(20240607);

template <class T> std::vector<T> filled(i64 count, auto fill) {
  std::vector<T> out(static_cast<std::size_t>(count) + 1);
  std::memset(static_cast<void*>(out.data()), 0x5a, out.size() * sizeof(T));
  T const guard = out.back();
  fill(static_cast<void*>(out.data()), dtype_of<T>, count);
  REQUIRE(same_bytes(&out.back(), &guard, sizeof(T)));
  out.pop_back();
  return out;
}

TEST_CASE_TEMPLATE("integers: all values, equally often", T, i64, i32, i16, i8, u16, u8) {
  i64 const low = std::is_signed_v<T> ? -3 : 4;
  auto const values = filled<T>(70000, [=](void* to, dtype type, i64 n) {
    fill_integers(seed.fold("integers"), to, type, n, low, low + 7);
  });
  f64 counts[7] = {};
  for (T const x : values) {
    REQUIRE((x >= low && x < low + 7));
    ++counts[static_cast<i64>(x) - low];
  }
  f64 chi = 0;
  for (f64 const c : counts) chi += (c - 10000) * (c - 10000) / 10000;
  CHECK(chi < 22.5);  // 6 degrees of freedom: exceeded with probability 0.001

  T const least = std::numeric_limits<T>::min();
  auto const one = filled<T>(100, [=](void* to, dtype type, i64 n) {
    fill_integers(seed, to, type, n, least, i64{least} + 1);
  });
  CHECK(std::count(one.begin(), one.end(), least) == 100);
}

TEST_CASE("integers: ranges that would be biased without redrawing") {
  // 3 * 2^30 does not divide 2^32: a bare multiplication hits the lowest third more often, and a
  // quarter of the draws is refused. The second range takes 64 bits an element.
  for (i64 const third : {i64{1} << 30, i64{1} << 60}) {
    auto const values = filled<i64>(60000, [=](void* to, dtype type, i64 n) {
      fill_integers(seed.fold("biased"), to, type, n, -third, 2 * third);
    });
    f64 counts[3] = {};
    i64 odd = 0;
    for (i64 const x : values) {
      REQUIRE((x >= -third && x < 2 * third));
      ++counts[(x + third) / third];
      odd += x & 1;
    }
    for (f64 const c : counts) CHECK(c == doctest::Approx(20000).epsilon(0.03));
    CHECK(odd == doctest::Approx(30000).epsilon(0.03));
    auto const modulo = filled<i64>(60000, [=](void* to, dtype type, i64 n) {
      fill_integers(seed.fold("modulo"), to, type, n, 0, 3 * third);
    });
    f64 rests[3] = {};
    for (i64 const x : modulo) ++rests[x % 3];
    for (f64 const c : rests) CHECK(c == doctest::Approx(20000).epsilon(0.03));
  }
  auto const all = filled<i64>(1000, [](void* to, dtype type, i64 n) {
    fill_integers(seed, to, type, n, std::numeric_limits<i64>::min(),
                  std::numeric_limits<i64>::max());
  });
  CHECK(std::count_if(all.begin(), all.end(), [](i64 x) { return x < 0; }) ==
        doctest::Approx(500).epsilon(0.15));
  auto const word = filled<i64>(
      1000, [](void* to, dtype type, i64 n) { fill_integers(seed, to, type, n, 0, i64{1} << 32); });
  for (i64 i = 0; i < 1000; ++i)
    REQUIRE(word[static_cast<std::size_t>(i)] == random_word(seed.state(), i));
}

TEST_CASE_TEMPLATE("permutation: every number once, every order as often", T, i64, i32) {
  for (i64 const n : {0, 1, 2, 3, 31, 32, 33, 1000, 100000}) {
    auto values = filled<T>(n, [](void* to, dtype type, i64 count) {
      fill_permutation(seed.fold("permutation"), to, type, count);
    });
    auto const is_number = [&, i = T{0}](T x) mutable { return x == i++; };
    if (n > 30) CHECK(!std::all_of(values.begin(), values.end(), is_number));
    std::sort(values.begin(), values.end());
    CAPTURE(n);
    CHECK(std::all_of(values.begin(), values.end(), is_number));
  }
  f64 counts[24] = {};
  for (int i = 0; i < 24000; ++i) {
    T order[4];
    fill_permutation(seed.fold("order", i), order, dtype_of<T>, 4);
    int rank = 0;  // 3! times the smaller ones behind the first, and so on
    for (int a = 0; a < 4; ++a) {
      int smaller = 0;
      for (int b = a + 1; b < 4; ++b) smaller += order[b] < order[a];
      rank = rank * (4 - a) + smaller;
    }
    ++counts[rank];
  }
  f64 chi = 0;
  for (f64 const c : counts) chi += (c - 1000) * (c - 1000) / 1000;
  CHECK(chi < 49.7);  // 23 degrees of freedom: exceeded with probability 0.001
}

}  // namespace
