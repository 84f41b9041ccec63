#include <doctest/doctest.h>

#include <random>
#include <vector>

#include <ricci/error/exceptions.hpp>

#include "kernels/reduce/reduce.hpp"
#include "tests/unit/kernels/random_view.hpp"

namespace k = ricci::kernels;
using namespace ricci;
using ricci::test::extents_list;
using ricci::test::random_view;

TEST_CASE("running sums along every axis of any view") {
  std::mt19937 random(13);
  for (int trial = 0; trial < 60; ++trial) {
    static constexpr std::int64_t choices[] = {1, 2, 3, 17, 150, 300, 700};
    extents_list extents(1 + random() % 3);
    std::int64_t size = 1;
    for (auto& e : extents) {
      do e = choices[random() % 7];
      while (size * e > 5000);
      size *= e;
    }
    random_view<float> const x(random, extents, trial % 2 == 0);
    random_view<i16> const whole(random, extents, trial % 2 == 0);
    for (int axis = 0; axis < static_cast<int>(extents.size()); ++axis) {
      std::vector<float> out(static_cast<std::size_t>(size));
      std::vector<i64> sums(out.size());
      k::cumsum(x.view(), axis, out.data(), dtype::f32);
      k::cumsum(whole.view(), axis, sums.data(), dtype::i64);
      std::int64_t inner = 1;
      for (std::size_t a = static_cast<std::size_t>(axis) + 1; a < extents.size(); ++a)
        inner *= extents[a];
      extents_list place(extents.size());
      bool right = true;
      for (std::int64_t i = 0; i < size; ++i) {
        std::int64_t rest = i;
        for (std::size_t a = place.size(); a-- > 0;)
          place[a] = rest % extents[a], rest /= extents[a];
        auto const before = static_cast<std::size_t>(i - inner), here = static_cast<std::size_t>(i);
        bool const starts = place[static_cast<std::size_t>(axis)] == 0;
        right = right && out[here] == static_cast<float>(x.at(place)) + (starts ? 0 : out[before]);
        right =
            right && sums[here] == static_cast<i64>(whole.at(place)) + (starts ? 0 : sums[before]);
      }
      CHECK(right);
    }
  }
}

TEST_CASE("running sums along an axis that is not there are refused") {
  std::int64_t const n = 2, one = 1;
  float const x[2] = {1, 2};
  float out[2];
  CHECK_THROWS_AS(k::cumsum({x, dtype::f32, 1, &n, &one}, 1, out, dtype::f32), ricci::value_error);
  CHECK_THROWS_AS(k::cumsum({x, dtype::f32, 1, &n, &one}, -1, out, dtype::f32), ricci::value_error);
}
