#pragma once

#include <ricci/tensor/minifloat.hpp>

namespace ricci {

/// IEEE half precision: 5 bits of exponent, 10 of mantissa, largest finite value 65504.
///   Value   one number, as the format's bits; overflow gives infinity, NaN stays NaN
///   Dtype   explicit from any C++ number, ties to even, rounded once; explicit, exact to f32, f64
///   Units   those of the number
///   Source  IEEE 754-2019, binary16
struct f16 {
  using format = detail::minifloat<5, 10, false>;

  std::uint16_t bits;

  constexpr f16() = default;
  template <class V>
    requires std::is_arithmetic_v<V>
  constexpr explicit f16(V value)
      : bits(static_cast<std::uint16_t>(format::encode(detail::round_to_odd(value)))) {}

  static constexpr f16 from_bits(std::uint16_t bits) {
    f16 result;
    result.bits = bits;
    return result;
  }

  template <std::floating_point V> constexpr explicit operator V() const {
    return static_cast<V>(format::decode(bits));
  }

  friend constexpr bool operator==(f16 a, f16 b) {
    return static_cast<float>(a) == static_cast<float>(b);
  }
};

}  // namespace ricci
