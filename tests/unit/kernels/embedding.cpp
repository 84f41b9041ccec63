#include "kernels/embedding/embedding.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <ricci/error/exceptions.hpp>
#include <string>
#include <vector>

#include "kernels/parallel/parallel.hpp"
#include "tests/unit/kernels/same_bytes.hpp"

namespace k = ricci::kernels;
using ricci::bf16;
using ricci::dtype;
using ricci::f16;
using std::int64_t;

namespace {

// Whole numbers in [-50, 50], whose sums are exact in f32: Knuth's multiplier, TAOCP 2, 3.3.4.
template <class T> std::vector<T> values(int64_t count, int64_t seed) {
  std::vector<T> x(static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    auto const bits =
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed + i) * 2654435761u);
    x[i] = static_cast<T>(static_cast<float>(static_cast<int>(bits >> 16) % 101 - 50));
  }
  return x;
}

template <class I> std::vector<I> ids_below(int64_t vocab, int64_t count) {
  std::vector<I> ids(static_cast<std::size_t>(count));
  for (int64_t n = 0; n < count; ++n) ids[n] = static_cast<I>(n * n % 1009 % vocab);
  return ids;
}

template <class T, class I> void check(int64_t outer, int64_t vocab, int64_t inner, int64_t count) {
  INFO(std::string(ricci::name_of<T>()), " ", outer, " ", vocab, " ", inner, " ids ", count);
  auto const table = values<T>(outer * vocab * inner, 1);
  auto const ids = ids_below<I>(vocab, count);
  k::index_list const list{ricci::dtype_of<I>, count, ids.data()};
  std::vector<T> y(static_cast<std::size_t>(outer * count * inner));
  k::take(outer, vocab, inner, sizeof(T), table.data(), list, y.data());
  auto const dy = values<T>(outer * count * inner, 90001);
  std::vector<T> dtable(table.size(), T(9));
  k::take_backward(ricci::dtype_of<T>, outer, vocab, inner, dy.data(), list, dtable.data());
  std::vector<double> want(table.size());
  int64_t wrong = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t n = 0; n < count; ++n)
      for (int64_t i = 0; i < inner; ++i) {
        int64_t const to = (o * count + n) * inner + i;
        int64_t const from = (o * vocab + static_cast<int64_t>(ids[n])) * inner + i;
        wrong += !(y[to] == table[from]);
        want[from] += static_cast<double>(dy[to]);
      }
  CHECK(wrong == 0);
  for (std::size_t i = 0; i < want.size(); ++i)
    wrong += !(dtable[i] == T(static_cast<float>(want[i])));  // exact sums, one rounding
  CHECK(wrong == 0);
}

std::string message_of(std::vector<std::int16_t> const& ids) {
  std::vector<float> const table(10);
  std::vector<float> y(ids.size() * 2);
  try {
    k::take(1, 5, 2, 4, table.data(), {dtype::i16, static_cast<int64_t>(ids.size()), ids.data()},
            y.data());
  } catch (ricci::index_error const& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("take copies rows and its gradient adds them up") {
  for (int64_t const outer : {0, 1, 3})
    for (int64_t const vocab : {1, 2, 65})
      for (int64_t const inner : {0, 1, 2, 3, 16, 17, 300})
        for (int64_t const count : {0, 1, 17, 60}) {
          check<float, std::int64_t>(outer, vocab, inner, count);
          check<double, std::int32_t>(outer, vocab, inner, count);
          if (inner > 17) continue;
          check<bf16, std::uint16_t>(outer, vocab, inner, count);
          check<f16, std::uint8_t>(outer, vocab, inner, count);
          check<float, std::int8_t>(outer, vocab, inner, count);
        }
  check<float, std::int32_t>(1, 1000, 40, 3000);
}

TEST_CASE("take copies elements of any type") {
  std::vector<std::uint8_t> const table{10, 11, 12};
  std::vector<std::int64_t> const ids{2, 0, 2, 1};
  std::vector<std::uint8_t> y(4);
  k::take(1, 3, 1, 1, table.data(), {dtype::i64, 4, ids.data()}, y.data());
  CHECK(y == std::vector<std::uint8_t>{12, 10, 12, 11});
}

TEST_CASE("an index outside the axis is named with its position") {
  CHECK(message_of({0, 4, 1}) == "");
  CHECK(message_of({0, 5, -1}) ==
        "take: the index at position 1 is 5, and the axis has extent 5; positions count from 0.");
  CHECK(message_of({0, 4, -1}) ==
        "take: the index at position 2 is -1, and the axis has extent 5; positions count from 0.");
}

TEST_CASE("take backward sums each row in order, with the same bits at 1, 2 and 3 threads") {
  int const before = k::threads();
  int64_t const vocab = 50, inner = 600, count = 999;
  // One id takes half of the positions.
  auto ids = ids_below<std::int32_t>(vocab, count);
  for (int64_t n = 0; n < count; n += 2) ids[n] = 7;
  std::vector<float> dy(static_cast<std::size_t>(count * inner));
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = 1.0f / static_cast<float>(i % 977 + 1);
  std::vector<float> want(static_cast<std::size_t>(vocab * inner)), got(want.size());
  for (int64_t n = 0; n < count; ++n)
    for (int64_t i = 0; i < inner; ++i) want[ids[n] * inner + i] += dy[n * inner + i];
  for (int const threads : {1, 2, 3}) {
    k::set_threads(threads);
    k::take_backward(dtype::f32, 1, vocab, inner, dy.data(), {dtype::i32, count, ids.data()},
                     got.data());
    CHECK(same_bytes(want.data(), got.data(), want.size() * sizeof(float)));
  }
  k::set_threads(before);
}

TEST_CASE("take refuses what it cannot read") {
  float x = 0;
  k::index_list const floats{dtype::f32, 1, &x};
  CHECK_THROWS_AS(k::take(1, 1, 1, 4, &x, floats, &x), ricci::value_error);
  std::int32_t const id = 0;
  k::index_list const one{dtype::i32, 1, &id};
  CHECK_THROWS_AS(k::take(1, -1, 1, 4, &x, one, &x), ricci::shape_error);
  CHECK_THROWS_AS(k::take_backward(dtype::i32, 1, 1, 1, &x, one, &x), ricci::value_error);
  k::index_list const many{dtype::i32, std::int64_t{1} << 61, &id};
  CHECK_THROWS_AS(k::take(1, 1, 8, 4, &x, many, &x), ricci::shape_error);
}
