#pragma once

#include <cmath>
#include <limits>

#include "kernels/simd/vec.hpp"

/// What the functions in kernels/math share: lane-wise helpers over simd::vec.
namespace ricci::kernels::simd {

/// f of every lane, one by one: for what has no vector form here.
template <class C, class F> RICCI_ALWAYS_INLINE vec<C> map_lanes(vec<C> x, F f) {
  for (int i = 0; i < lanes<C>; ++i) x[i] = f(x[i]);
  return x;
}

template <class C, class F> RICCI_ALWAYS_INLINE vec<C> map_lanes(vec<C> x, vec<C> y, F f) {
  for (int i = 0; i < lanes<C>; ++i) x[i] = f(x[i], y[i]);
  return x;
}

template <class C> inline constexpr mask_element<C> sign_bit =
    std::numeric_limits<mask_element<C>>::min();

/// |x|, of NaN too.
template <class C> RICCI_ALWAYS_INLINE vec<C> absolute(vec<C> x) {
  return std::bit_cast<vec<C>>(std::bit_cast<mask<C>>(x) & ~sign_bit<C>);
}

/// |magnitude| with the sign of `sign`.
template <class C> RICCI_ALWAYS_INLINE vec<C> copy_sign(vec<C> magnitude, vec<C> sign) {
  return std::bit_cast<vec<C>>((std::bit_cast<mask<C>>(magnitude) & ~sign_bit<C>) |
                               (std::bit_cast<mask<C>>(sign) & sign_bit<C>));
}

template <class C> RICCI_ALWAYS_INLINE vec<C> sqrt(vec<C> x) {
#if defined(__AVX512F__)
  // With a full mask, because g++ 12 warns of its own unmasked form.
  if constexpr (sizeof(C) == 4)
    return reinterpret_cast<vec<C>>(_mm512_maskz_sqrt_ps(0xffff, reinterpret_cast<__m512>(x)));
  else
    return reinterpret_cast<vec<C>>(_mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(x)));
#else
  return map_lanes<C>(x, [](C v) { return std::sqrt(v); });
#endif
}

/// Half the lanes of f32, as many as a vector of f64 has.
using half_vec = detail::vector_type<float, vector_bytes / 2>::type;

/// The lower and the upper lanes of 32-bit floats as f64, exact.
struct halves {
  vec<double> low, high;
};

RICCI_ALWAYS_INLINE halves widen(vec<float> x) {
  half_vec parts[2];
  std::memcpy(parts, &x, sizeof x);
  return {__builtin_convertvector(parts[0], vec<double>),
          __builtin_convertvector(parts[1], vec<double>)};
}

/// Rounds each half to f32.
RICCI_ALWAYS_INLINE vec<float> narrow(halves x) {
  half_vec const parts[2] = {__builtin_convertvector(x.low, half_vec),
                             __builtin_convertvector(x.high, half_vec)};
  vec<float> result;
  std::memcpy(&result, parts, sizeof result);
  return result;
}

}  // namespace ricci::kernels::simd
