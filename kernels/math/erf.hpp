#pragma once

#include <numbers>

#include "kernels/math/exp_bounded.hpp"
#include "kernels/math/lanes.hpp"

namespace ricci::kernels::simd {

namespace detail {

// erf for |x| below 0.8: x + x p(x^2), p minimax of degree 6, relative error 3e-9.
RICCI_ALWAYS_INLINE vec<float> erf_near_zero(vec<float> x) {
  constexpr float c[] = {1.283791656e-01f, -3.761262582e-01f, 1.128358515e-01f, -2.685381181e-02f,
                         5.188327444e-03f, -8.010191499e-04f, 7.853854332e-05f};
  return x + x * horner<float>(x * x, c);
}

// exp(x^2 / 2) times the normal distribution's upper tail at x >= 0, f32:
// g(x) = u p(1 - 5 u), u = 1 / (x + 5/2), p minimax of degree 9, relative error 2e-8. Around this
// shift of x the value depends little on the rounding of u.
RICCI_ALWAYS_INLINE vec<float> scaled_tail(vec<float> x) {
  constexpr float c[] = {7.066566600e-01f,  -4.336920140e-01f, 1.319869683e-01f, 9.235906256e-03f,
                         -1.638605699e-02f, -1.600931939e-03f, 2.523435342e-03f, 6.843581554e-04f,
                         -3.110307497e-04f, -1.573617119e-04f};
  vec<float> const u = 1.0f / (x + 2.5f);
  return u * horner<float>(1.0f - 5.0f * u, c);
}

// exp(-x^2 / 2), f32, with the rounding error of x^2 put back: x = head + rest, head of 12 bits,
// so head^2 is exact and x^2 = head^2 + rest (x + head).
RICCI_ALWAYS_INLINE vec<float> bell(vec<float> x) {
  vec<float> const half_square = x * x * 0.5f;
  vec<float> const head =
      std::bit_cast<vec<float>>(std::bit_cast<mask<float>>(x) & ~mask_element<float>{0xfff});
  vec<float> const lost = (head * head * 0.5f - half_square) + (x - head) * (x + head) * 0.5f;
  vec<float> const e = exp_bounded<float>(-half_square);
  return e - e * lost;
}

inline constexpr float bell_limit = 15.0f;  // exp(-15^2 / 2) is 0 in f32

inline constexpr double root_of_half = std::numbers::sqrt2 / 2;

// The normal distribution at x and exp(-x^2 / 2); |x| <= bell_limit.
struct normal_parts {
  vec<float> distribution, bell;
};

RICCI_ALWAYS_INLINE normal_parts normal(vec<float> x) {
  vec<float> const b = bell(x);
  vec<float> const magnitude = absolute<float>(x);
  vec<float> const tail = b * scaled_tail(magnitude);
  vec<float> const near = 0.5f + 0.5f * erf_near_zero(x * static_cast<float>(root_of_half));
  return {magnitude < 1.0f ? near : (x < 0.0f ? tail : 1.0f - tail), b};
}

}  // namespace detail

/// The error function in every lane.
///   Value   within 2 units in the last place; odd
///   Source  below |x| = 0.8 erf_near_zero, above
///           1 - 2 tail(sqrt(2) |x|), tail by scaled_tail (f64: libm)
template <class C> RICCI_ALWAYS_INLINE vec<C> erf(vec<C> x) {
  if constexpr (sizeof(C) == 8) {
    return map_lanes<C>(x, [](C v) { return std::erf(v); });
  } else {
    vec<C> const near = detail::erf_near_zero(x);
    vec<C> magnitude = absolute<C>(x);
    mask<C> const is_near = magnitude < 0.8f;
    magnitude = magnitude > 5.0f ? fill<C>(5.0f) : magnitude;  // erf is 1 there
    vec<C> const far =
        1.0f - 2.0f * exp_bounded<C>(-magnitude * magnitude) *
                   detail::scaled_tail(magnitude * static_cast<float>(std::numbers::sqrt2));
    return is_near ? near : copy_sign<C>(far, x);
  }
}

/// x / 2 (1 + erf(x / sqrt(2))), relatively accurate in the negative tail too; 0 at -infinity.
template <class C> RICCI_ALWAYS_INLINE vec<C> gelu_erf(vec<C> x) {
  if constexpr (sizeof(C) == 8) {
    return map_lanes<C>(
        x, [](C v) { return v < -40.0 ? -0.0 : v * 0.5 * std::erfc(v * -detail::root_of_half); });
  } else {
    vec<C> const floor = x < -detail::bell_limit ? fill<C>(-detail::bell_limit) : x;
    vec<C> const bounded = floor > detail::bell_limit ? fill<C>(detail::bell_limit) : floor;
    return floor * detail::normal(bounded).distribution;
  }
}

/// d gelu_erf / dx = P(x) + x exp(-x^2 / 2) / sqrt(2 pi), P the normal distribution.
template <class C> RICCI_ALWAYS_INLINE vec<C> gelu_erf_grad(vec<C> x) {
  constexpr double density = 0.3989422804014327;  // 1 / sqrt(2 pi)
  if constexpr (sizeof(C) == 8) {
    return map_lanes<C>(x, [](C v) {
      v = v < -40.0 ? -40.0 : v > 40.0 ? 40.0 : v;
      return 0.5 * std::erfc(v * -detail::root_of_half) + v * std::exp(-0.5 * v * v) * density;
    });
  } else {
    x = x < -detail::bell_limit ? fill<C>(-detail::bell_limit) : x;
    x = x > detail::bell_limit ? fill<C>(detail::bell_limit) : x;
    auto const parts = detail::normal(x);
    return parts.distribution + x * parts.bell * static_cast<float>(density);
  }
}

}  // namespace ricci::kernels::simd
