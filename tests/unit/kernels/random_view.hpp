#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <ricci/tensor/dtype.hpp>

#include "kernels/reduce/reduce.hpp"

/// What the tests of reductions and running sums read.
namespace ricci::test {

using extents_list = std::vector<std::int64_t>;

/// Small numbers under a random layout: axes permuted, with gaps, reversed or broadcast.
template <class T> struct random_view {
  random_view(std::mt19937& random, extents_list const& e, bool plain) : extents(e) {
    std::vector<int> order(e.size());
    for (std::size_t i = 0; i < e.size(); ++i) order[i] = static_cast<int>(i);
    if (!plain) std::shuffle(order.begin(), order.end(), random);
    strides.resize(e.size());
    std::int64_t size = 1, lowest = 0;
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
      auto const a = static_cast<std::size_t>(*axis);
      std::int64_t const step = !plain && random() % 5 == 0 ? 2 : 1;
      strides[a] = size * step;
      size *= std::max<std::int64_t>(1, e[a]) * step;
      if (plain) continue;
      if (random() % 8 == 0) strides[a] = 0;
      if (random() % 6 == 0 && e[a] > 0) {
        lowest += strides[a] * (e[a] - 1);
        strides[a] = -strides[a];
      }
    }
    numbers.resize(static_cast<std::size_t>(size));
    for (auto& x : numbers)
      x = static_cast<T>(static_cast<int>(random() % 32) - (is_signed ? 16 : 0));
    first = numbers.data() + lowest;
  }
  static constexpr bool is_signed = static_cast<double>(std::numeric_limits<T>::lowest()) < 0;
  kernels::strided_view view() const {
    return {first, dtype_of<T>, static_cast<int>(extents.size()), extents.data(), strides.data()};
  }
  double at(extents_list const& place) const {
    std::int64_t offset = 0;
    for (std::size_t a = 0; a < place.size(); ++a) offset += place[a] * strides[a];
    return static_cast<double>(first[offset]);
  }
  extents_list extents, strides;
  std::vector<T> numbers;
  T const* first;
};

}  // namespace ricci::test
