#pragma once

#include <limits>

#include "kernels/simd/vec.hpp"

/// Loops over a contiguous row in vectors. Their body is a generic lambda that gets the place `at`
/// and reads and writes through it, so that it is written once for whole vectors and for the rest
/// of the row. The order of a sum depends on the row's length alone.
namespace ricci::kernels::simd {

/// A whole vector at element i of the row.
template <class C> struct whole {
  std::int64_t i;

  static constexpr int size() { return lanes<C>; }

  template <class T> RICCI_ALWAYS_INLINE vec<C> load(T const* row) const {
    return simd::load<C>(row + i);
  }
  template <class T> RICCI_ALWAYS_INLINE void store(T* row, vec<C> v) const {
    simd::store<C>(row + i, v);
  }
};

/// The last `count` elements of the row, fewer than a vector; the other lanes read 0.
template <class C> struct part {
  std::int64_t i;
  std::int64_t count;

  int size() const { return static_cast<int>(count); }

  template <class T> RICCI_ALWAYS_INLINE vec<C> load(T const* row) const {
    return load_first<C>(row + i, count, C(0));
  }
  template <class T> RICCI_ALWAYS_INLINE void store(T* row, vec<C> v) const {
    store_first<C>(row + i, v, count);
  }
};

/// v in the lanes of the row, `rest` in the others.
template <class C> RICCI_ALWAYS_INLINE vec<C> keep(part<C> at, vec<C> v, C rest) {
  mask<C> numbers;
  for (int lane = 0; lane < lanes<C>; ++lane) numbers[lane] = lane;
  return select<C>(numbers < static_cast<mask_element<C>>(at.count), v, fill<C>(rest));
}

/// Calls body(at) along a row of n elements.
template <class C, class F> RICCI_ALWAYS_INLINE void for_row(std::int64_t n, F body) {
  std::int64_t i = 0;
  for (; i + lanes<C> <= n; i += lanes<C>) body(whole<C>{i});
  if (i < n) body(part<C>{i, n - i});
}

/// Two vectors, or two sums.
template <class V> struct two {
  V first;
  V second;
};

// The accumulators of a reduction: enough to hide the latency of an addition.
inline constexpr int row_accumulators = 4;

/// Sum of body(at) over a row of n elements.
template <class C, class F> RICCI_ALWAYS_INLINE C sum_row(std::int64_t n, F body) {
  constexpr int step = row_accumulators * lanes<C>;
  vec<C> sum[row_accumulators] = {};
  std::int64_t i = 0;
  for (; i + step <= n; i += step)
    for (int j = 0; j < row_accumulators; ++j) sum[j] += body(whole<C>{i + j * lanes<C>});
  for (; i + lanes<C> <= n; i += lanes<C>) sum[0] += body(whole<C>{i});
  if (i < n) {
    part<C> const at{i, n - i};
    sum[1] += keep<C>(at, body(at), C(0));
  }
  return sum_lanes<C>((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/// Two sums at once: body(at) returns a two<vec<C>>.
template <class C, class F> RICCI_ALWAYS_INLINE two<C> sum_row_twice(std::int64_t n, F body) {
  vec<C> first[2] = {};
  vec<C> second[2] = {};
  auto const add = [&](int j, two<vec<C>> const& v) {
    first[j] += v.first;
    second[j] += v.second;
  };
  std::int64_t i = 0;
  for (; i + 2 * lanes<C> <= n; i += 2 * lanes<C>) {
    add(0, body(whole<C>{i}));
    add(1, body(whole<C>{i + lanes<C>}));
  }
  for (; i + lanes<C> <= n; i += lanes<C>) add(0, body(whole<C>{i}));
  if (i < n) {
    part<C> const at{i, n - i};
    two<vec<C>> const v = body(at);
    add(1, {keep<C>(at, v.first, C(0)), keep<C>(at, v.second, C(0))});
  }
  return {sum_lanes<C>(first[0] + first[1]), sum_lanes<C>(second[0] + second[1])};
}

/// Largest element of body(at) over a row of n elements; NaN is passed over; -infinity if n is 0.
template <class C, class F> RICCI_ALWAYS_INLINE C max_row(std::int64_t n, F body) {
  constexpr C none = -std::numeric_limits<C>::infinity();
  constexpr int step = row_accumulators * lanes<C>;
  vec<C> top[row_accumulators];
  for (auto& t : top) t = fill<C>(none);
  std::int64_t i = 0;
  for (; i + step <= n; i += step)
    for (int j = 0; j < row_accumulators; ++j)
      top[j] = max<C>(body(whole<C>{i + j * lanes<C>}), top[j]);
  for (; i + lanes<C> <= n; i += lanes<C>) top[0] = max<C>(body(whole<C>{i}), top[0]);
  if (i < n) {
    part<C> const at{i, n - i};
    top[1] = max<C>(keep<C>(at, body(at), none), top[1]);
  }
  return max_lanes<C>(max<C>(max<C>(top[0], top[1]), max<C>(top[2], top[3])));
}

}  // namespace ricci::kernels::simd
