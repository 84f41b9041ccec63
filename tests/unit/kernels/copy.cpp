#include "kernels/copy/copy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/visit_dtype.hpp>

#include "kernels/parallel/parallel.hpp"
#include "tests/unit/kernels/same_bytes.hpp"

namespace {

using namespace ricci;
namespace k = ricci::kernels;
using std::int64_t;
using integers = std::vector<int64_t>;

std::mt19937 engine(20240601);
int64_t draw(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(engine);
}

// The place of the first element and the strides of an array, and how many elements it lies in.
struct placing {
  integers strides;
  int64_t first = 0;
  int64_t count = 1;
};

// Packed in the order given, slowest first, with room and steps between elements and some axes
// backwards; `may_repeat` allows strides of zero.
placing place(integers const& extents, std::vector<int> const& order, bool is_plain,
              bool may_repeat) {
  placing p{integers(extents.size()), draw(0, 3), 1};
  for (std::size_t at = order.size(); at-- > 0;) {
    auto const axis = static_cast<std::size_t>(order[at]);
    if (may_repeat && !is_plain && draw(0, 5) == 0) continue;
    if (!is_plain && draw(0, 4) == 0) p.count *= draw(2, 3);  // step
    p.strides[axis] = p.count;
    p.count *= std::max<int64_t>(extents[axis], 1) + (is_plain ? 0 : draw(0, 1));
    if (!is_plain && draw(0, 3) == 0) {
      p.first += p.strides[axis] * (std::max<int64_t>(extents[axis], 1) - 1);
      p.strides[axis] = -p.strides[axis];
    }
  }
  p.count += p.first + 8;
  return p;
}

std::vector<int> any_order(std::size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), engine);
  return order;
}

// Calls f(target element, source element) for every place.
template <class F>
void for_each_place(integers const& extents, placing const& to, placing const& from, F f) {
  int64_t count = 1;
  for (int64_t extent : extents) count *= extent;
  integers index(extents.size());
  int64_t t = to.first, s = from.first;
  for (int64_t i = 0; i < count; ++i) {
    f(t, s);
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      t += to.strides[axis];
      s += from.strides[axis];
      if (++index[axis] < extents[axis]) break;
      t -= to.strides[axis] * extents[axis];
      s -= from.strides[axis] * extents[axis];
      index[axis] = 0;
    }
  }
}

std::vector<char> any_bytes(int64_t count) {
  std::vector<char> bytes(static_cast<std::size_t>(count));
  std::uint32_t state = static_cast<std::uint32_t>(draw(1, 1 << 30));
  for (char& byte : bytes) {
    state = state * 1664525u + 1013904223u;  // Numerical Recipes 7.1
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

std::string text(integers const& numbers) {
  std::string all = "[";
  for (int64_t n : numbers) all += ' ' + std::to_string(n);
  return all + " ]";
}

// The whole of the target is compared: also what must not be written.
void check_copy(int64_t size, integers const& extents, placing const& to, placing const& from) {
  std::vector<char> const source = any_bytes(from.count * size);
  std::vector<char> target = any_bytes(to.count * size);
  std::vector<char> want = target;
  for_each_place(extents, to, from, [&](int64_t t, int64_t s) {
    std::memcpy(want.data() + t * size, source.data() + s * size, static_cast<std::size_t>(size));
  });
  k::copy(size, static_cast<int>(extents.size()), extents.data(), target.data() + to.first * size,
          to.strides.data(), source.data() + from.first * size, from.strides.data());
  CHECK_MESSAGE(target == want, "bytes ", size, " extents ", text(extents), " target ",
                text(to.strides), " source ", text(from.strides));
}

void check_permutation(int64_t size, integers const& extents,
                       std::vector<int> const& source_order) {
  std::vector<int> order(extents.size());
  std::iota(order.begin(), order.end(), 0);
  placing to = place(extents, order, true, false), from = place(extents, source_order, true, false);
  check_copy(size, extents, to, from);
}

integers small_extents(std::size_t rank, bool may_be_empty) {
  constexpr int64_t choices[] = {1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 19, 23, 32, 33, 37};
  integers extents(rank);
  int64_t room = 6000;
  for (int64_t& extent : extents) {
    extent = std::min(room, choices[draw(0, 15)]);
    room = std::max<int64_t>(1, room / extent);
  }
  std::shuffle(extents.begin(), extents.end(), engine);
  if (may_be_empty && rank > 0 && draw(0, 20) == 0)
    extents[static_cast<std::size_t>(draw(0, static_cast<int64_t>(rank) - 1))] = 0;
  return extents;
}

TEST_CASE("copy: any extents and strides, against nested loops") {
  for (int trial = 0; trial < 3000; ++trial) {
    auto const rank = static_cast<std::size_t>(draw(0, 6));
    integers const extents = small_extents(rank, true);
    check_copy(int64_t{1} << draw(0, 3), extents,
               place(extents, any_order(rank), draw(0, 1) == 0, false),
               place(extents, any_order(rank), draw(0, 2) == 0, true));
  }
}

TEST_CASE("copy: two axes, every size near the squares that registers hold") {
  for (int64_t size : {1, 2, 4, 8})
    for (int64_t rows : {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130})
      for (int64_t columns : {1, 3, 4, 7, 8, 15, 16, 17, 33, 64, 65, 127, 129})
        check_permutation(size, {rows, columns}, {1, 0});
}

TEST_CASE("copy: passes of several boxes") {
  for (int64_t size : {1, 2, 4, 8}) {
    check_permutation(size, {211, 307}, {1, 0});
    check_permutation(size, {7, 128, 64}, {0, 2, 1});
    check_permutation(size, {9, 10, 11, 12, 13}, {4, 3, 2, 1, 0});
    check_permutation(size, {2, 40, 3, 5, 64}, {0, 2, 1, 3, 4});
    check_permutation(size, {4, 100, 25, 6}, {0, 2, 1, 3});
    check_permutation(size, {3, 20000}, {1, 0});
    check_permutation(size, {20000, 3}, {1, 0});
    check_permutation(size, {70001}, {0});
    for (int trial = 0; trial < 6; ++trial) {
      integers const extents{draw(20, 40), draw(20, 40), draw(50, 90)};
      check_copy(size, extents, place(extents, any_order(3), trial < 3, false),
                 place(extents, any_order(3), false, true));
    }
  }
}

TEST_CASE("copy: targets that pass the caches by, on and off the boundaries of lines") {
  for (int64_t size : {1, 2, 4, 8}) {
    int64_t const n = k::streamed_bytes() / size;  // the least of them
    check_permutation(size, {1024, n / 1024}, {1, 0});
    check_permutation(size, {1031, n / 1024}, {1, 0});
    check_permutation(size, {n / 300, 331}, {1, 0});
    check_permutation(size, {n / 4096 + 1, 16, 16, 16}, {3, 2, 1, 0});
    check_permutation(size, {n / 4096 + 1, 17, 8, 33}, {3, 2, 1, 0});
    check_permutation(size, {4, n / 256 + 1, 8, 9}, {0, 2, 1, 3});
    check_permutation(size, {5, n / 1024, 3, 100}, {0, 2, 1, 3});
  }
  int64_t const rows = k::streamed_bytes() / 4000 + 1;
  integers const extents{rows, 1000};
  placing const to{{1003, 1}, 2, 1003 * rows + 8};
  placing const backwards{{-1, rows + 1}, rows, 1001 * (rows + 1)};
  check_copy(4, extents, to, backwards);
  check_copy(4, extents, placing{{-1003, 1}, 1003 * (rows - 1), 1003 * rows + 8}, backwards);
}

TEST_CASE("copy: targets on the boundaries of lines that fill them whole") {
  auto const n =
      static_cast<int64_t>(std::bit_ceil(static_cast<std::uint64_t>(k::streamed_bytes()) / 4));
  std::vector<float> source(static_cast<std::size_t>(n)), memory(static_cast<std::size_t>(n) + 16);
  std::iota(source.begin(), source.end(), 0.0f);
  auto* const target =
      reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
  int64_t const high = n / 1024;
  int64_t const two[] = {1024, high}, rows[] = {high, 1}, columns[] = {1, 1024};
  k::copy(4, 2, two, target, rows, source.data(), columns);
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i) wrong += target[i] != source[i % high * 1024 + i / high];
  CHECK(wrong == 0);
  // [a b c d] from [d c b a], a whole line a row
  int64_t const slow = n / 16384;
  int64_t const four[] = {slow, 16, 32, 32}, packed[] = {16384, 1024, 32, 1};
  int64_t const reversed[] = {1, slow, 16 * slow, 512 * slow};
  k::copy(4, 4, four, target, packed, source.data(), reversed);
  for (int64_t i = 0; i < n; ++i) {
    int64_t const a = i / 16384, b = i / 1024 % 16, c = i / 32 % 32, d = i % 32;
    wrong += target[i] != source[a + slow * (b + 16 * c + 512 * d)];
  }
  CHECK(wrong == 0);
}

TEST_CASE("copy: the number of threads changes nothing") {
  int const before = k::threads();
  for (int threads : {1, 3}) {
    k::set_threads(threads);
    check_permutation(4, {300, 411}, {1, 0});
    check_permutation(4, {1200, 1001}, {1, 0});
  }
  k::set_threads(before);
}

// Whole numbers, half the time with a fraction that the sum rounds away.
template <class T> T any_value() {
  if constexpr (is_floating_v<T>)
    return T(static_cast<float>(draw(-60, 60)) / (draw(0, 1) == 0 ? 1.0f : 16.0f));
  else
    return static_cast<T>(draw(-(1 << 30), 1 << 30) * 1000003);
}

template <class T> T expected_sum(T a, T b) {
  if constexpr (std::is_same_v<T, f64>)
    return a + b;
  else if constexpr (is_floating_v<T>)
    return T(static_cast<float>(a) + static_cast<float>(b));
  else
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

template <class T> void check_sum(integers const& extents, placing const& to, placing const& from) {
  std::vector<T> source(static_cast<std::size_t>(from.count)),
      target(static_cast<std::size_t>(to.count));
  for (T& x : source) x = any_value<T>();
  for (T& x : target) x = any_value<T>();
  std::vector<T> want = target;
  for_each_place(extents, to, from,
                 [&](int64_t t, int64_t s) { want[t] = expected_sum(target[t], source[s]); });
  k::add_into(dtype_of<T>, static_cast<int>(extents.size()), extents.data(),
              target.data() + to.first, to.strides.data(), source.data() + from.first,
              from.strides.data());
  CHECK_MESSAGE(same_bytes(target.data(), want.data(), want.size() * sizeof(T)),
                std::string(name_of<T>()), " extents ", text(extents), " target ", text(to.strides),
                " source ", text(from.strides));
}

TEST_CASE("add_into: every dtype, any extents and strides, against nested loops") {
  for (int i = 0; i < dtype_count; ++i)
    visit(static_cast<dtype>(i), []<class T>(std::type_identity<T>) {
      if constexpr (!std::is_same_v<T, boolean>) {
        for (int trial = 0; trial < 60; ++trial) {
          auto const rank = static_cast<std::size_t>(draw(0, 6));
          integers const extents = small_extents(rank, true);
          check_sum<T>(extents, place(extents, any_order(rank), draw(0, 1) == 0, false),
                       place(extents, any_order(rank), draw(0, 1) == 0, true));
        }
        integers const extents{150, 30, 9};
        check_sum<T>(extents, place(extents, {0, 1, 2}, true, false),
                     place(extents, {0, 1, 2}, true, false));
        check_sum<T>(extents, place(extents, {0, 1, 2}, true, false),
                     place(extents, {2, 0, 1}, true, false));
        check_sum<T>(extents, place(extents, {0, 1, 2}, true, false), {{1, 0, 0}, 1, 160});
      }
    });
}

TEST_CASE("fill: every place, and no other") {
  for (int trial = 0; trial < 300; ++trial) {
    auto const rank = static_cast<std::size_t>(draw(0, 5));
    int64_t const size = int64_t{1} << draw(0, 3);
    integers const extents = small_extents(rank, true);
    placing const to = place(extents, any_order(rank), draw(0, 1) == 0, false);
    placing const still{integers(rank), 0, 1};
    std::vector<char> const value = any_bytes(size);
    std::vector<char> target = any_bytes(to.count * size), want = target;
    for_each_place(extents, to, still, [&](int64_t t, int64_t) {
      std::memcpy(want.data() + t * size, value.data(), static_cast<std::size_t>(size));
    });
    k::fill(size, static_cast<int>(rank), extents.data(), target.data() + to.first * size,
            to.strides.data(), value.data());
    CHECK(target == want);
  }
}

TEST_CASE("zero: few bytes and many") {
  for (int64_t bytes : {0, 1, 63, 4096, (3 << 20) + 5}) {
    std::vector<char> memory(static_cast<std::size_t>(bytes) + 2, 7);
    k::zero(memory.data() + 1, bytes);
    CHECK(memory.front() == 7);
    CHECK(memory.back() == 7);
    CHECK(std::count(memory.begin(), memory.end(), 0) == bytes);
  }
  CHECK_THROWS_AS(k::zero(nullptr, -1), value_error);
}

TEST_CASE("copy: bad input is refused with a sentence") {
  int64_t const one[] = {1, 1, 1};
  std::uint64_t a = 0, b = 0;
  int64_t const negative[] = {3, -1};
  CHECK_THROWS_WITH_AS(k::copy(4, 2, negative, &a, one, &b, one),
                       "copy: the extents [3 -1] hold a negative one; an extent is at least 0.",
                       shape_error);
  int64_t const huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  CHECK_THROWS_WITH_AS(k::add_into(dtype::f32, 2, huge, &a, one, &b, one),
                       "add_into: the extents [1099511627776 1099511627776] have more elements "
                       "than 64 bits can count.",
                       shape_error);
  CHECK_THROWS_WITH_AS(k::copy(3, 1, one, &a, one, &b, one),
                       "copy: got elements of 3 bytes; it takes 1, 2, 4 or 8.", value_error);
  CHECK_THROWS_AS(k::copy(4, -1, one, &a, one, &b, one), value_error);
  CHECK_THROWS_AS(k::fill(4, k::max_copy_rank + 1, one, &a, one, &b), value_error);
  CHECK_THROWS_WITH_AS(k::add_into(dtype::boolean, 1, one, &a, one, &b, one),
                       "add_into: got elements of boolean; they have no sum (convert to i64).",
                       value_error);
}

}  // namespace
