#pragma once

#include "kernels/math/lanes.hpp"
#include "kernels/simd/exp.hpp"

namespace ricci::kernels::simd {

/// e^x in every lane for f32 with -600 <= x <= 88 or NaN: exp without its two clamps, for functions
/// that bound their argument themselves. The same polynomial, so the same value.
template <class C> RICCI_ALWAYS_INLINE vec<C> exp_bounded(vec<C> x) {
  if constexpr (sizeof(C) == 8) {
    return exp<C>(x);
  } else {
#if defined(__AVX512F__)
    constexpr float c[] = {5.00000000e-01f, 1.66665755e-01f, 4.16665528e-02f, 8.36341962e-03f,
                           1.39264841e-03f};
    constexpr float magic = 12582912.0f;  // 1.5 * 2^23: rounds to a whole number
    vec<C> const n = (x * 1.44269504f + magic) - magic;
    vec<C> const f = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cf7ap-20f;
    return detail::scale_by_power<C>(f * f * detail::horner<C>(f, c) + f + 1.0f, n, mask<C>{});
#else
    return exp<C>(x);
#endif
  }
}

}  // namespace ricci::kernels::simd
