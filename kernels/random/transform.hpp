#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

/// Random bits to numbers. Every product that is added to something is a std::fma, and nothing is
/// taken from the mathematical library but it and the square root, both exactly rounded: so every
/// compiler and device computes the same bits. All is free of branches and inlined by force,
/// because a loop with a call in it does not vectorize.
namespace ricci::kernels {

namespace detail {

// c[0] + c[1] x + ... by Horner's rule; unrolled here, as compilers give up beyond 16 terms.
template <class T, std::size_t N> [[gnu::always_inline]] inline T polynomial(T x, T const (&c)[N]) {
  T sum = c[N - 1];
  [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    ((sum = std::fma(sum, x, c[N - 2 - I])), ...);
  }(std::make_index_sequence<N - 1>());
  return sum;
}

// -ln(x) for normal x: x = 2^n (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2).
[[gnu::always_inline]] inline float minus_log(float x) {
  // ln(1 + f) / f, interpolated in f - 1/16 at the Chebyshev points: relative error 1e-8.
  constexpr float c[] = {0x1.f0a30cp-1f, -0x1.d82544p-2f, 0x1.29bf08p-2f, -0x1.a5a04ap-3f,
                         0x1.3e4e36p-3f, -0x1.f4294p-4f,  0x1.8b0148p-4f, -0x1.44041ep-4f,
                         0x1.60e228p-4f, -0x1.31335ap-4f};
  constexpr std::int32_t half_root = 0x3f3504f3;  // the bits of sqrt(1/2)
  std::int32_t const bits = std::bit_cast<std::int32_t>(x) - half_root;
  float const n = static_cast<float>(bits >> 23);
  float const f = std::bit_cast<float>((bits & 0x7fffff) + half_root) - 1.0f;
  float const log_fraction = f * polynomial(f - 0.0625f, c);
  return std::fma(-0x1.62e43p-1f, n, -log_fraction);
}

[[gnu::always_inline]] inline double minus_log(double x) {
  // ln(1 + f) = 2 artanh(s) with s = f / (2 + f): |s| < 0.172, the series ends at 1e-17.
  constexpr double c[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                          1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
  constexpr std::int64_t half_root = 0x3fe6a09e667f3bcd;
  std::int64_t const bits = std::bit_cast<std::int64_t>(x) - half_root;
  double const n = static_cast<double>(bits >> 52);
  double const f = std::bit_cast<double>((bits & 0xfffffffffffff) + half_root) - 1.0;
  double const s = f / (2.0 + f);
  double const log_fraction = 2.0 * s * polynomial(s * s, c);
  return std::fma(-0x1.62e42fefa39efp-1, n, -log_fraction);
}

// The z >= 0 with P(|Z| > z) = t for a standard normal Z, given t and x = 1 - t, each to full
// relative precision. With w = -ln(1 - x^2), z / x is a smooth function of w near zero and of
// sqrt(w) beyond, interpolated piece by piece at the Chebyshev points (50-digit arithmetic).
[[gnu::always_inline]] inline float normal_magnitude(float t, float x) {
  // 0 <= w <= 6.25 in w - 25/8 and 6.25 <= w <= 21.6 in sqrt(w) - 57/16: relative error 1.3e-7.
  constexpr float center[] = {
      0x1.2b57eep1f,    0x1.5bc944p-2f,   -0x1.17a2dcp-7f, -0x1.1298dep-10f, 0x1.15b6dap-12f,
      -0x1.498152p-16f, -0x1.21de5ep-19f, 0x1.4343f6p-21f, -0x1.9e63dcp-27f, -0x1.c05954p-28f};
  constexpr float tail[] = {0x1.3397e6p2f,   0x1.6cd8a4p0f,    0x1.0e2488p-8f,
                            -0x1.4fa52cp-9f, 0x1.4c3606p-10f,  -0x1.936e66p-11f,
                            0x1.1026d2p-11f, -0x1.149442p-12f, 0x1.07dadep-14f};
  float const w = minus_log(t * (1.0f + x));
  float const near = polynomial(w - 3.125f, center);
  float const far = polynomial(std::sqrt(w) - 3.5625f, tail);
  return x * (w < 6.25f ? near : far);
}

[[gnu::always_inline]] inline double normal_magnitude(double t, double x) {
  // 0 <= w <= 6.25 in w - 25/8, 6.25 <= w <= 16 in sqrt(w) - 13/4, 16 <= w <= 46 in
  // sqrt(w) - 43/8: relative error 3.3e-16. At w = 46, z is 9.2.
  constexpr double center[] = {
      0x1.2b57ec65a8009p1,    0x1.5bc94440cc80fp-2,  -0x1.179b257405e1fp-7,
      -0x1.12994fbb9801dp-10, 0x1.14e8fc428b78bp-12, -0x1.496275f5904c3p-16,
      -0x1.032ee3a93ed4bp-19, 0x1.4186bc8665123p-21, -0x1.6125a958ee15dp-25,
      -0x1.8faea4c05c826p-28, 0x1.98a5b036992e7p-30, -0x1.50d4123d08a9cp-34,
      -0x1.42de66b5d6273p-36, 0x1.06156fe925d3dp-38, -0x1.0228169a9171fp-43,
      -0x1.024a99f311944p-44, 0x1.4f5dd37122103p-47, 0x1.1aa8a92ba6c5p-55,
      -0x1.a4e46490c3a29p-53, 0x1.223ee4e28a622p-56, 0x1.cc4d3453e9264p-60,
      -0x1.184860f3aec75p-62, -0x1.93e3b350ec805p-72};
  constexpr double middle[] = {0x1.171f182e77876p2,   0x1.6bf14fa6fc32p0,     0x1.f1c95c5e74cdbp-8,
                               -0x1.5bab4c39d9478p-8, 0x1.cdd2bb95a3e0cp-9,   -0x1.38f1f6d52d2a8p-9,
                               0x1.616921e971322p-10, -0x1.073e91f20a1f5p-11, 0x1.1d17431efb948p-15,
                               0x1.950a8c22b2df5p-14, -0x1.18aeb78661f28p-14, 0x1.27ff3fad4d05ap-16,
                               0x1.15d3726c18d7p-18,  -0x1.7cf2db9534a6cp-18, 0x1.1bed344ba1452p-19,
                               0x1.bd333185dbc18p-26, -0x1.97e24cbed3337p-22, 0x1.1383e31c99615p-23,
                               -0x1.29da4919d06a9p-31};
  constexpr double tail[] = {
      0x1.d9406151b7988p2,   0x1.6db3d6b953a52p0,    -0x1.e2f5486c8cec2p-12, -0x1.7161bfdec65e8p-13,
      0x1.17388b9669dbcp-14, -0x1.19f0f73378106p-16, 0x1.ee88bfd7ea57p-19,   -0x1.92e7169e273fep-21,
      0x1.3b8a3a52b06a2p-23, -0x1.f36c7bd6361b7p-26, 0x1.c6388f7b7989ap-28,  -0x1.2bc623d87610bp-29,
      0x1.254a368e172bcp-30, -0x1.1dfa219565ef4p-31, 0x1.c16bba85d8befp-33,  -0x1.ad3e729deb28ep-34,
      0x1.e553b8a88f566p-35, -0x1.f1d2ccfa1da47p-37, -0x1.3a7a55953ef6fp-39, 0x1.5f325812a7a09p-40};
  double const w = minus_log(t * (1.0 + x));
  double const root = std::sqrt(w);
  double const near = polynomial(w - 3.125, center);
  double const far = polynomial(root - 3.25, middle);
  double const farthest = polynomial(root - 5.375, tail);
  return x * (w < 6.25 ? near : w < 16.0 ? far : farthest);
}

}  // namespace detail

/// Uniform in [0, 1): the multiples of 2^-24, or of 2^-53.
[[gnu::always_inline]] inline float uniform_value(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24f;
}
[[gnu::always_inline]] inline double uniform_value(std::uint64_t pair) {
  return static_cast<double>(static_cast<std::int64_t>(pair >> 11)) * 0x1p-53;
}

/// Standard normal: the quantile at the middle of one of 2^32 (2^64) equal parts of (0, 1), so
/// that it is symmetric, never zero, and at most 6.3 (9.1) in magnitude.
[[gnu::always_inline]] inline float normal_value(std::uint32_t word) {
  // The other 31 bits count tails from both ends: t = (m + 1/2) 2^-31 and x = 1 - t.
  std::int32_t const m = static_cast<std::int32_t>(word & 0x7fffffffu);
  float const t = std::fma(static_cast<float>(m), 0x1p-31f, 0x1p-32f);
  float const x = std::fma(static_cast<float>(0x7fffffff - m), 0x1p-31f, 0x1p-32f);
  float const z = detail::normal_magnitude(t, x);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(z) | (word & 0x80000000u));
}
[[gnu::always_inline]] inline double normal_value(std::uint64_t pair) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  std::int64_t const m = static_cast<std::int64_t>(pair & (sign - 1));
  double const t = std::fma(static_cast<double>(m), 0x1p-63, 0x1p-64);
  double const x = std::fma(static_cast<double>(INT64_MAX - m), 0x1p-63, 0x1p-64);
  double const z = detail::normal_magnitude(t, x);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(z) | (pair & sign));
}

/// The standard normal quantile, for 0 <= p <= 1.
///   Value   full relative precision for p <= 1/2; within 2^-65 of an end it stays at 9.2
[[gnu::always_inline]] inline double normal_quantile(double p) {
  bool const upper = p > 0.5;
  double const nearer = upper ? 1.0 - p : p;
  double const t = 2.0 * (nearer + 0x1p-66);
  double const z = detail::normal_magnitude(t, 1.0 - t);
  return upper ? z : -z;
}

}  // namespace ricci::kernels
