#pragma once

#include "kernels/math/lanes.hpp"
#include "kernels/simd/exp.hpp"

namespace ricci::kernels::simd {

/// Natural logarithm in every lane.
///   Value   within 2 units in the last place, subnormals included; log 0 is -infinity, below 0 NaN
///   Source  x = 2^e m with m in [sqrt(1/2), sqrt(2)), f = m - 1,
///           log(1 + f) = f - f^2/2 + f^3 p(f), p minimax of degree 8 in f: relative error 8e-10
///           (f64: libm)
template <class C> RICCI_ALWAYS_INLINE vec<C> log(vec<C> x) {
  if constexpr (sizeof(C) == 8) {
    return map_lanes<C>(x, [](C v) { return std::log(v); });
  } else {
    constexpr float c[] = {3.333331260e-01f,  -2.500000960e-01f, 2.000211875e-01f,
                           -1.666799562e-01f, 1.421955055e-01f,  -1.240559202e-01f,
                           1.188817760e-01f,  -1.167563874e-01f, 6.746591773e-02f};
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr i32 half_root = 0x3f3504f3;  // bits of sqrt(1/2)
    mask<C> const subnormal = x < std::numeric_limits<float>::min();
    vec<C> const scaled = subnormal ? x * 8388608.0f : x;  // 2^23
    // What has no logarithm goes on as 1, so that no exponent overflows.
    mask<C> const bits = std::bit_cast<mask<C>>(x > 0.0f ? scaled : fill<C>(1.0f));
    mask<C> const exponent = (bits - half_root) >> 23;
    vec<C> const f = std::bit_cast<vec<C>>(bits - (exponent << 23)) - 1.0f;
    vec<C> const e =
        __builtin_convertvector(exponent, vec<C>) + (subnormal ? fill<C>(-23.0f) : fill<C>(0.0f));
    vec<C> const square = f * f;
    // ln 2 in two parts, the first with so few bits that e times it is exact.
    vec<C> const low = f * square * detail::horner<C>(f, c) + e * 0x1.7f7d1cf7ap-20f;
    vec<C> result = (f + (low - 0.5f * square)) + e * 0x1.62e4p-1f;
    result = x > 0.0f ? result
                      : (x == 0.0f ? fill<C>(-infinity)
                                   : fill<C>(std::numeric_limits<float>::quiet_NaN()));
    return x == infinity ? x : result;
  }
}

}  // namespace ricci::kernels::simd
