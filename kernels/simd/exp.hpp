#pragma once

#include "kernels/simd/vec.hpp"

namespace ricci::kernels::simd {

namespace detail {

// p(x) = c[0] + c[1] x + ... by Horner's rule, unrolled.
template <class C, int N> RICCI_ALWAYS_INLINE vec<C> horner(vec<C> x, C const (&c)[N]) {
  vec<C> sum = fill<C>(c[N - 1]);
  for (int i = N - 2; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}

// 2^n for the whole numbers n of v, -126 <= n <= 127 (f64: -1022 and 1023).
template <class C> RICCI_ALWAYS_INLINE vec<C> power_of_two(mask<C> n) {
  constexpr mask_element<C> bias = sizeof(C) == 8 ? 1023 : 127;
  constexpr int mantissa = sizeof(C) == 8 ? 52 : 23;
  return std::bit_cast<vec<C>>((n + bias) << mantissa);
}

// v * 2^n, correct into the subnormals and over into infinity.
template <class C> RICCI_ALWAYS_INLINE vec<C> scale_by_power(vec<C> v, vec<C> n, mask<C> whole) {
#if defined(__AVX512F__)
  static_cast<void>(whole);  // (the unmasked intrinsics of g++ 12 warn of their own variable)
  if constexpr (sizeof(C) == 4)
    return reinterpret_cast<vec<C>>(
        _mm512_maskz_scalef_ps(0xffff, reinterpret_cast<__m512>(v), reinterpret_cast<__m512>(n)));
  else
    return reinterpret_cast<vec<C>>(
        _mm512_maskz_scalef_pd(0xff, reinterpret_cast<__m512d>(v), reinterpret_cast<__m512d>(n)));
#else
  static_cast<void>(n);
  mask<C> const half = whole >> 1;
  return v * power_of_two<C>(half) * power_of_two<C>(whole - half);
#endif
}

}  // namespace detail

/// e^x in every lane.
///   Value   within 1 unit in the last place; e^0 is 1; 0 and infinity beyond the range, NaN for
///   NaN Source  x = n ln 2 + f with |f| <= ln 2 / 2, e^f = 1 + f + f^2 p(f), p interpolated at the
///           Chebyshev points of |f| <= 0.348: relative error 1.1e-8 in f32, 1.8e-17 in f64
template <class C> RICCI_ALWAYS_INLINE vec<C> exp(vec<C> x) {
  constexpr bool wide = sizeof(C) == 8;
  constexpr C lowest = wide ? C(-746.0) : C(-104.5);
  constexpr C highest = wide ? C(710.0) : C(89.0);
  constexpr C log2_e = C(1.4426950408889634);
  constexpr C magic = wide ? C(6755399441055744.0) : C(12582912.0);  // 1.5 * 2^mantissa: rounds
  // ln 2 in two parts, the first with so few bits that n times it is exact.
  constexpr C ln2_high = wide ? C(0x1.62e42feep-1) : C(0x1.62e4p-1);
  constexpr C ln2_low = wide ? C(0x1.a39ef35793c76p-33) : C(0x1.7f7d1cf7ap-20);
  x = min<C>(fill<C>(highest), max<C>(fill<C>(lowest), x));  // keeps NaN
  vec<C> const shifted = x * log2_e + magic;
  vec<C> const n = shifted - magic;
  vec<C> const f = (x - n * ln2_high) - n * ln2_low;
  vec<C> p;
  if constexpr (wide) {
    constexpr C c[] = {5.00000000000000111e-01, 1.66666666666666685e-01, 4.16666666666227412e-02,
                       8.33333333332995571e-03, 1.38888889179033734e-03, 1.98412698635839742e-04,
                       2.48015202286464519e-05, 2.75572676392240822e-06, 2.76205940841412989e-07,
                       2.51007743367171313e-08};
    p = detail::horner<C>(f, c);
  } else {
    constexpr C c[] = {5.00000000e-01f, 1.66665755e-01f, 4.16665528e-02f, 8.36341962e-03f,
                       1.39264841e-03f};
    p = detail::horner<C>(f, c);
  }
  mask<C> const whole = std::bit_cast<mask<C>>(shifted) - std::bit_cast<mask<C>>(fill<C>(magic));
  return detail::scale_by_power<C>(f * f * p + f + C(1), n, whole);
}

/// 2^x in every lane, cheaper than exp.
///   Value   within 1.25 units in the last place; 2^0 is 1; 0 and infinity beyond the range, NaN
///   for NaN Source  x = n + f with |f| <= 1/2, 2^f = 1 + f p(f), p interpolated at the Chebyshev
///   points of
///           |f| <= 0.501: relative error 5.2e-9 in f32, 8.7e-18 in f64
template <class C> RICCI_ALWAYS_INLINE vec<C> exp2(vec<C> x) {
  constexpr bool wide = sizeof(C) == 8;
  constexpr C lowest = wide ? C(-1077.0) : C(-152.0);
  constexpr C highest = wide ? C(1024.0) : C(128.0);
  constexpr C magic = wide ? C(6755399441055744.0) : C(12582912.0);
  x = min<C>(fill<C>(highest), max<C>(fill<C>(lowest), x));  // keeps NaN
  vec<C> const shifted = x + magic;
  vec<C> const n = shifted - magic;
  vec<C> const f = x - n;
  vec<C> p;
  if constexpr (wide) {
    constexpr C c[] = {6.93147180559945286e-01, 2.40226506959100999e-01, 5.55041086648215970e-02,
                       9.61812910760654130e-03, 1.33335581464167491e-03, 1.54035304423195458e-04,
                       1.52527338301471379e-05, 1.32154422329693437e-06, 1.01780622566465428e-07,
                       7.07265679936292335e-09, 4.45499836310486840e-10};
    p = detail::horner<C>(f, c);
  } else {
    constexpr C c[] = {6.93147188e-01f, 2.40226508e-01f, 5.55035668e-02f,
                       9.61808218e-03f, 1.33910932e-03f, 1.54533620e-04f};
    p = detail::horner<C>(f, c);
  }
  mask<C> const whole = std::bit_cast<mask<C>>(shifted) - std::bit_cast<mask<C>>(fill<C>(magic));
  return detail::scale_by_power<C>(f * p + C(1), n, whole);
}

}  // namespace ricci::kernels::simd
