#pragma once

#include <ricci/tensor/minifloat.hpp>

namespace ricci {

/// 8-bit float with 4 bits of exponent and no infinity; largest finite value 448.
///   Value   one number, as the format's bits; overflow and infinity give NaN (not saturating)
///   Dtype   explicit from any C++ number, ties to even, rounded once; explicit, exact to f32, f64
///   Units   those of the number
///   Source  OCP 8-bit Floating Point Specification (OFP8) 1.0, E4M3
struct f8_e4m3 {
  using format = detail::minifloat<4, 3, true>;

  std::uint8_t bits;

  constexpr f8_e4m3() = default;
  template <class V>
    requires std::is_arithmetic_v<V>
  constexpr explicit f8_e4m3(V value)
      : bits(static_cast<std::uint8_t>(format::encode(detail::round_to_odd(value)))) {}

  static constexpr f8_e4m3 from_bits(std::uint8_t bits) {
    f8_e4m3 result;
    result.bits = bits;
    return result;
  }

  template <std::floating_point V> constexpr explicit operator V() const {
    return static_cast<V>(format::decode(bits));
  }

  friend constexpr bool operator==(f8_e4m3 a, f8_e4m3 b) {
    return static_cast<float>(a) == static_cast<float>(b);
  }
};

/// 8-bit float with 5 bits of exponent; largest finite value 57344.
///   Value   one number, as the format's bits; overflow gives infinity, NaN stays NaN
///   Dtype   explicit from any C++ number, ties to even, rounded once; explicit, exact to f32, f64
///   Units   those of the number
///   Source  OCP 8-bit Floating Point Specification (OFP8) 1.0, E5M2
struct f8_e5m2 {
  using format = detail::minifloat<5, 2, false>;

  std::uint8_t bits;

  constexpr f8_e5m2() = default;
  template <class V>
    requires std::is_arithmetic_v<V>
  constexpr explicit f8_e5m2(V value)
      : bits(static_cast<std::uint8_t>(format::encode(detail::round_to_odd(value)))) {}

  static constexpr f8_e5m2 from_bits(std::uint8_t bits) {
    f8_e5m2 result;
    result.bits = bits;
    return result;
  }

  template <std::floating_point V> constexpr explicit operator V() const {
    return static_cast<V>(format::decode(bits));
  }

  friend constexpr bool operator==(f8_e5m2 a, f8_e5m2 b) {
    return static_cast<float>(a) == static_cast<float>(b);
  }
};

}  // namespace ricci
