#pragma once

#include "kernels/math/lanes.hpp"
#include "kernels/simd/exp.hpp"

namespace ricci::kernels::simd {

namespace detail {

// x^y of f32 values in f64, relative error below 2e-8 before it is rounded to f32:
// |x|^y = 2^(y log2 |x|), |x| = 2^e m, log2 m = s p(s^2) with s = (m - 1) / (m + 1).
RICCI_ALWAYS_INLINE vec<double> power_of_f32(vec<double> x, vec<double> y) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: rounds to a whole number
  constexpr double l[] = {2.8853900817901676, 0.96179667324767493, 0.57708360188121,
                          0.41167174890379876, 0.34074744569205961};
  constexpr double p[] = {1.0000000005550704,    0.69314720576707189,   0.24022646885924367,
                          0.055503287119148446,  0.0096184892612201801, 0.0013399957592019663,
                          0.00015345784450965138};
  constexpr i64 half_root = 0x3fe6a09e667f3bcd;  // bits of sqrt(1/2)
  mask<double> const magic_bits = std::bit_cast<mask<double>>(fill<double>(magic));
  vec<double> const magnitude = absolute<double>(x);
  mask<double> const bits = std::bit_cast<mask<double>>(magnitude);
  mask<double> const exponent = (bits - half_root) >> 52;
  vec<double> const e = std::bit_cast<vec<double>>(exponent + magic_bits) - magic;
  vec<double> const m = std::bit_cast<vec<double>>(bits - (exponent << 52));
  vec<double> const s = (m - 1.0) / (m + 1.0);
  vec<double> logarithm = e + s * horner<double>(s * s, l);
  logarithm = magnitude == 0.0 ? fill<double>(-infinity) : logarithm;
  logarithm = magnitude < infinity ? logarithm : magnitude;  // infinity and NaN

  vec<double> z = y * logarithm;
  z = z < -300.0 ? fill<double>(-300.0) : z;
  z = z > 300.0 ? fill<double>(300.0) : z;  // infinity in f32
  vec<double> const shifted = z + magic;
  vec<double> const f = z - (shifted - magic);
  mask<double> const n = std::bit_cast<mask<double>>(shifted) - magic_bits;
  // Also for a NaN z, whose n is any number.
  vec<double> result = horner<double>(f, p) * std::bit_cast<vec<double>>((n + 1023) << 52);
  result = (magnitude == 1.0) & ((x > 0.0) | (absolute<double>(y) == infinity)) ? fill<double>(1.0)
                                                                                : result;
  result = y == 0.0 ? fill<double>(1.0) : result;

  // Every f32 from 2^24 on is even.
  vec<double> const y_shifted = y + magic;
  mask<double> const small = absolute<double>(y) < 16777216.0;
  mask<double> const odd =
      small & (y_shifted - magic == y) & ((std::bit_cast<mask<double>>(y_shifted) & 1) != 0);
  mask<double> const whole = ~small | (y_shifted - magic == y);
  mask<double> const negative = std::bit_cast<mask<double>>(x) < 0;
  result = negative & odd ? -result : result;
  mask<double> const undefined = (x < 0.0) & (magnitude < infinity) & ~whole;
  return undefined ? fill<double>(std::numeric_limits<double>::quiet_NaN()) : result;
}

}  // namespace detail

/// x^y in every lane, with the special cases of C's pow.
///   Value   within 1 unit in the last place (f64: libm)
template <class C> RICCI_ALWAYS_INLINE vec<C> power(vec<C> x, vec<C> y) {
  if constexpr (sizeof(C) == 8) {
    return map_lanes<C>(x, y, [](C a, C b) { return std::pow(a, b); });
  } else {
    halves const a = widen(x), b = widen(y);
    return narrow({detail::power_of_f32(a.low, b.low), detail::power_of_f32(a.high, b.high)});
  }
}

}  // namespace ricci::kernels::simd
