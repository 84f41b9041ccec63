#pragma once

#include "kernels/math/lanes.hpp"
#include "kernels/simd/exp.hpp"

namespace ricci::kernels::simd {

namespace detail {

inline constexpr float reduction_limit = 1.0e6f;

// sin(x + quarter pi / 2), |x| <= reduction_limit: x = q pi/2 + r in f64, then the polynomial of
// sin or cos on |r| <= pi/4: r + r^3 p(r^2) and 1 - r^2/2 + r^4 p(r^2), errors 4e-9 and 1e-10.
RICCI_ALWAYS_INLINE vec<float> reduced_sine(vec<float> x, i32 quarter) {
  constexpr float magic = 12582912.0f;  // 1.5 * 2^23: rounds to a whole number
  // pi / 2 in two parts; the first has 33 bits, so a q of 20 bits times it is exact.
  constexpr double high = 0x1.921fb544p+0, low = 0x1.0b4611a626331p-34;
  constexpr float s[] = {-1.666665494e-01f, 8.332177677e-03f, -1.951723361e-04f};
  constexpr float c[] = {4.166664685e-02f, -1.388736689e-03f, 2.443837720e-05f};
  vec<float> const shifted = x * 0.63661977236f + magic;  // 2 / pi
  halves const wide = widen(x), q = widen(shifted - magic);
  vec<float> const r =
      narrow({(wide.low - q.low * high) - q.low * low, (wide.high - q.high * high) - q.high * low});
  vec<float> const square = r * r;
  vec<float> const sine = r + r * square * horner<float>(square, s);
  vec<float> const cosine = 1.0f - 0.5f * square + square * square * horner<float>(square, c);
  mask<float> const quadrant = std::bit_cast<mask<float>>(shifted) + quarter;
  vec<float> const value = (quadrant & 1) != 0 ? cosine : sine;
  return std::bit_cast<vec<float>>(std::bit_cast<mask<float>>(value) ^ ((quadrant & 2) << 30));
}

template <class F> RICCI_ALWAYS_INLINE vec<float> sine(vec<float> x, i32 quarter, F exact) {
  // NaN counts as inside: it comes out as NaN.
  mask<float> const outside = absolute<float>(x) > reduction_limit;
  vec<float> result = reduced_sine(outside ? fill<float>(0.0f) : x, quarter);
  for (int i = 0; i < lanes<float>; ++i)
    if (outside[i]) result[i] = exact(x[i]);
  return result;
}

}  // namespace detail

/// Sine in every lane.
///   Value   within 2 units in the last place or 1e-7, whichever is more; beyond |x| = 1e6 libm's
///   (f64: libm)
template <class C> RICCI_ALWAYS_INLINE vec<C> sin(vec<C> x) {
  auto const exact = [](C v) { return std::sin(v); };
  if constexpr (sizeof(C) == 8)
    return map_lanes<C>(x, exact);
  else
    return x == 0.0f ? x : detail::sine(x, 0, exact);
}

/// Cosine in every lane, as sin.
template <class C> RICCI_ALWAYS_INLINE vec<C> cos(vec<C> x) {
  auto const exact = [](C v) { return std::cos(v); };
  if constexpr (sizeof(C) == 8)
    return map_lanes<C>(x, exact);
  else
    return detail::sine(x, 1, exact);
}

}  // namespace ricci::kernels::simd
