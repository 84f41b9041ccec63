#pragma once

#include <ricci/tensor/minifloat.hpp>

namespace ricci {

/// bfloat16: the upper half of an f32.
///   Value   one number, as the format's bits; overflow gives infinity, NaN stays NaN
///   Dtype   explicit from any C++ number, ties to even, rounded once; explicit, exact to f32, f64
///   Units   those of the number
///   Source  Intel, BFLOAT16 Hardware Numerics Definition 1.0 (subnormals are kept here)
struct bf16 {
  using format = detail::minifloat<8, 7, false>;

  std::uint16_t bits;

  constexpr bf16() = default;
  template <class V>
    requires std::is_arithmetic_v<V>
  constexpr explicit bf16(V value)
      : bits(static_cast<std::uint16_t>(format::encode(detail::round_to_odd(value)))) {}

  static constexpr bf16 from_bits(std::uint16_t bits) {
    bf16 result;
    result.bits = bits;
    return result;
  }

  template <std::floating_point V> constexpr explicit operator V() const {
    return static_cast<V>(format::decode(bits));
  }

  friend constexpr bool operator==(bf16 a, bf16 b) {
    return static_cast<float>(a) == static_cast<float>(b);
  }
};

}  // namespace ricci
