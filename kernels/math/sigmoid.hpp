#pragma once

#include "kernels/math/exp_bounded.hpp"
#include "kernels/math/lanes.hpp"

/// The functions that are made of one e^-|x|: none overflows, and none loses relative accuracy near
/// 0 or in a tail.
namespace ricci::kernels::simd {

namespace detail {

// min(|x|, limit), which takes NaN to limit: NaN must come through another factor.
template <class C> RICCI_ALWAYS_INLINE vec<C> bounded_magnitude(vec<C> x, C limit) {
  vec<C> const magnitude = absolute<C>(x);
  return magnitude < limit ? magnitude : fill<C>(limit);
}

template <class C> RICCI_ALWAYS_INLINE vec<C> clamp(vec<C> x, C limit) {
  x = x < -limit ? fill<C>(-limit) : x;
  return x > limit ? fill<C>(limit) : x;
}

// gelu_tanh(x) = x sigmoid(z(x)), z = 2 sqrt(2/pi) (x + 0.044715 x^3) = x (a + b x^2).
inline constexpr double gelu_a = 1.5957691216057308;
inline constexpr double gelu_b = gelu_a * 0.044715;

// Beyond this |x| the functions equal their limits in f32 and f64, and nothing overflows before.
template <class C> inline constexpr C gelu_limit = sizeof(C) == 8 ? C(32) : C(16);
template <class C> inline constexpr C sigmoid_limit = sizeof(C) == 8 ? C(760) : C(112);

}  // namespace detail

/// 1 / (1 + e^-x) in every lane, to the last subnormal.
template <class C> RICCI_ALWAYS_INLINE vec<C> sigmoid(vec<C> x) {
  x = detail::clamp<C>(x, detail::sigmoid_limit<C>);
  vec<C> const e = exp_bounded<C>(-absolute<C>(x));
  return (x < C(0) ? e : fill<C>(1)) / (e + C(1));
}

/// tanh in every lane.
///   Value   within 2 units in the last place; odd, so exact in sign; +-1 at infinity
///   Source  below |x| = 0.625: x + x^3 p(x^2), p minimax of degree 4, relative error 2e-10;
///           above: 1 - 2 / (1 + e^(2|x|))   (f64: libm)
template <class C> RICCI_ALWAYS_INLINE vec<C> tanh(vec<C> x) {
  if constexpr (sizeof(C) == 8) {
    return map_lanes<C>(x, [](C v) { return std::tanh(v); });
  } else {
    constexpr float c[] = {-3.333328392e-01f, 1.333149125e-01f, -5.374349526e-02f, 2.065057900e-02f,
                           -5.717036561e-03f};
    vec<C> const magnitude = absolute<C>(x);
    vec<C> const square = x * x;
    vec<C> const near = x + x * square * detail::horner<C>(square, c);
    vec<C> const far =
        1.0f - 2.0f / (exp_bounded<C>(detail::bounded_magnitude<C>(x, 20.0f) * 2.0f) + 1.0f);
    return magnitude >= 0.625f ? copy_sign<C>(far, x) : near;  // NaN is near
  }
}

/// x sigmoid(x), 0 at -infinity.
template <class C> RICCI_ALWAYS_INLINE vec<C> silu(vec<C> x) {
  vec<C> const magnitude = detail::bounded_magnitude<C>(x, detail::sigmoid_limit<C>);
  vec<C> const e = exp_bounded<C>(-magnitude);
  return (x < C(0) ? -magnitude * e : x) / (e + C(1));
}

/// d silu / dx = s + x s (1 - s), s = sigmoid(x).
template <class C> RICCI_ALWAYS_INLINE vec<C> silu_grad(vec<C> x) {
  x = detail::clamp<C>(x, detail::sigmoid_limit<C>);
  vec<C> const e = exp_bounded<C>(-absolute<C>(x));
  vec<C> const r = C(1) / (e + C(1));  // s, or 1 - s for x < 0; the other one is e r
  return (x < C(0) ? e * r : r) + x * (e * r * r);
}

/// x / 2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), 0 at -infinity.
template <class C> RICCI_ALWAYS_INLINE vec<C> gelu_tanh(vec<C> x) {
  constexpr C a = C(detail::gelu_a), b = C(detail::gelu_b);
  vec<C> const magnitude = detail::bounded_magnitude<C>(x, detail::gelu_limit<C>);
  vec<C> const e = exp_bounded<C>(-magnitude * (magnitude * magnitude * b + a));
  return (x < C(0) ? -magnitude * e : x) / (e + C(1));
}

/// d gelu_tanh / dx = s + x s (1 - s) dz/dx, s = sigmoid(z).
template <class C> RICCI_ALWAYS_INLINE vec<C> gelu_tanh_grad(vec<C> x) {
  constexpr C a = C(detail::gelu_a), b = C(detail::gelu_b);
  x = detail::clamp<C>(x, detail::gelu_limit<C>);
  vec<C> const square = x * x;
  vec<C> const e = exp_bounded<C>(-absolute<C>(x) * (square * b + a));
  vec<C> const r = C(1) / (e + C(1));
  return (x < C(0) ? e * r : r) + x * (square * (C(3) * b) + a) * (e * r * r);
}

}  // namespace ricci::kernels::simd
