#pragma once

#include <limits>

#include "kernels/parallel/parallel.hpp"
#include "kernels/simd/extents.hpp"
#include "kernels/simd/row.hpp"

namespace ricci::kernels {

/// One line along an axis that is contiguous. Its reductions return the same value in every lane.
template <class C> struct contiguous_line {
  std::int64_t index;  // of the line
  std::int64_t axis;

  template <class F> RICCI_ALWAYS_INLINE void each(F body) const {
    simd::for_row<C>(axis, moved(body));
  }
  template <class F> RICCI_ALWAYS_INLINE simd::vec<C> sum(F body) const {
    return simd::fill<C>(simd::sum_row<C>(axis, moved(body)));
  }
  template <class F> RICCI_ALWAYS_INLINE simd::vec<C> max(F body) const {
    return simd::fill<C>(simd::max_row<C>(axis, moved(body)));
  }
  /// Calls body(lane, line, begin, step) for each lane that stands for a line of its own: its
  /// number, its first element and the distance between its elements.
  template <class F> void each_line(F body) const { body(0, index, index * axis, 1); }
  static constexpr bool is_single() { return true; }
  /// The line's element of a tensor without the axis.
  template <class T> RICCI_ALWAYS_INLINE simd::vec<C> load_one(T const* x) const {
    return simd::fill<C>(static_cast<C>(x[index]));
  }

 private:
  template <class F> RICCI_ALWAYS_INLINE auto moved(F& body) const {
    std::int64_t const begin = index * axis;
    return [&body, begin](auto at) {
      at.i += begin;
      return body(at);
    };
  }
};

/// As many neighbouring lines along an axis as `At` has lanes (whole or part), one a lane.
template <class C, class At> struct bundle_of_lines {
  At first;  // the bundle's place in a tensor without the axis
  std::int64_t begin;
  std::int64_t axis;
  std::int64_t inner;

  template <class F> RICCI_ALWAYS_INLINE void each(F body) const {
    At at = first;
    at.i = begin;
    for (std::int64_t a = 0; a < axis; ++a, at.i += inner) body(at);
  }
  template <class F> RICCI_ALWAYS_INLINE simd::vec<C> sum(F body) const {
    simd::vec<C> total{};
    each([&](auto at) { total += body(at); });
    return total;
  }
  template <class F> RICCI_ALWAYS_INLINE simd::vec<C> max(F body) const {
    simd::vec<C> top = simd::fill<C>(-std::numeric_limits<C>::infinity());
    each([&](auto at) { top = simd::max<C>(body(at), top); });
    return top;
  }
  static constexpr bool is_single() { return false; }
  template <class F> void each_line(F body) const {
    for (int lane = 0; lane < first.size(); ++lane) body(lane, first.i + lane, begin + lane, inner);
  }
  template <class T> RICCI_ALWAYS_INLINE simd::vec<C> load_one(T const* x) const {
    return first.load(x);
  }
};

/// The lines along the middle axis of a packed [outer, axis, inner].
class axis_lines {
 public:
  axis_lines(std::int64_t outer, std::int64_t axis, std::int64_t inner, char const* who)
      : outer_(outer),
        axis_(axis),
        inner_(inner),
        count_(checked_count({outer, axis, inner}, who)) {}

  /// Calls body(line) for all lines, in parallel; line is a contiguous_line or a bundle_of_lines,
  /// whose reductions are vectors over lines. No call if there is no element.
  template <class C, class F> void for_each(F body) const {
    if (count_ == 0) return;
    if (inner_ == 1) {
      parallel_chunks(outer_, grain(axis_), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t o = begin; o < end; ++o) body(contiguous_line<C>{o, axis_});
      });
      return;
    }
    constexpr int n = simd::lanes<C>;
    std::int64_t const bundles = (inner_ - 1) / n + 1;
    parallel_chunks(outer_ * bundles, grain(axis_ * n), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t const o = i / bundles;
        std::int64_t const c = i % bundles * n;
        std::int64_t const start = o * axis_ * inner_ + c;
        std::int64_t const place = o * inner_ + c;
        if (c + n <= inner_)
          body(bundle_of_lines<C, simd::whole<C>>{{place}, start, axis_, inner_});
        else
          body(bundle_of_lines<C, simd::part<C>>{{place, inner_ - c}, start, axis_, inner_});
      }
    });
  }

 private:
  // Lines of one task: some ten microseconds, so that small tensors stay on one thread.
  static std::int64_t grain(std::int64_t elements) {
    constexpr std::int64_t task = 16384;
    return elements < task ? task / elements : 1;
  }

  std::int64_t outer_;
  std::int64_t axis_;
  std::int64_t inner_;
  std::int64_t count_;
};

}  // namespace ricci::kernels
