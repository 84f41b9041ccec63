#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace ricci::detail {

/// The binary formats narrower than f32: one sign bit, then exponent, then mantissa.
///   Invariant  exponent_bits + mantissa_bits + 1 is 8 or 16
///   Source     IEEE 754-2019 3.4; OCP 8-bit Floating Point Specification 1.0 (no_infinity: e4m3)
template <int ExponentBits, int MantissaBits, bool NoInfinity> struct minifloat {
  static constexpr int exponent_bits = ExponentBits;
  static constexpr int mantissa_bits = MantissaBits;
  static constexpr int bias = (1 << (ExponentBits - 1)) - 1;
  static constexpr int width = 1 + ExponentBits + MantissaBits;
  static constexpr std::uint32_t sign_mask = 1u << (width - 1);
  // All exponent bits set: infinity, or with no_infinity the last normal binade.
  static constexpr std::uint32_t infinity = ((1u << ExponentBits) - 1) << MantissaBits;
  static constexpr std::uint32_t max_finite = NoInfinity ? sign_mask - 2 : infinity - 1;
  static constexpr std::uint32_t overflow = max_finite + 1;  // infinity, or the NaN of no_infinity
  static constexpr std::uint32_t quiet_bit = 1u << (MantissaBits - 1);

  /// Nearest value, ties to even; beyond the largest finite value: infinity, or NaN without one.
  /// Selections instead of branches, so that loops over it vectorize.
  static constexpr std::uint32_t encode(float value) {
    std::uint32_t const all = std::bit_cast<std::uint32_t>(value);
    std::uint32_t const sign = (all >> 31) << (width - 1);
    std::uint32_t const magnitude = all & 0x7fffffffu;
    constexpr int dropped = 23 - MantissaBits;

    // Normal in the target: a carry out of the mantissa moves to the next binade by itself.
    std::uint32_t const rebiased = magnitude - (static_cast<std::uint32_t>(127 - bias) << 23);
    std::uint32_t const odd = (rebiased >> dropped) & 1u;
    std::uint32_t const normal = (rebiased + (1u << (dropped - 1)) - 1 + odd) >> dropped;
    std::uint32_t result = normal > max_finite ? overflow : normal;

    // Subnormal in the target: adding 2^23 of its units leaves their number in the low bits,
    // rounded by the addition. With the exponent range of f32 the code above serves these too.
    if constexpr (bias != 127) {
      constexpr std::uint32_t shifter = static_cast<std::uint32_t>(151 - bias - MantissaBits) << 23;
      bool const small = magnitude < static_cast<std::uint32_t>(128 - bias) << 23;
      // Zero for the others: clang allows no arithmetic on a NaN in a constant expression.
      float const sum = std::bit_cast<float>(small ? magnitude : 0) + std::bit_cast<float>(shifter);
      std::uint32_t const subnormal = std::bit_cast<std::uint32_t>(sum) - shifter;
      result = small ? subnormal : result;
    }

    // The payload of a NaN is truncated and made quiet, as the hardware does.
    std::uint32_t const nan =
        NoInfinity ? overflow : infinity | quiet_bit | ((magnitude & 0x7fffffu) >> dropped);
    return sign | (magnitude > 0x7f800000u ? nan : result);
  }

  /// The value, exactly.
  static constexpr float decode(std::uint32_t bits) {
    std::uint32_t const sign = (bits & sign_mask) << (32 - width);
    std::uint32_t const magnitude = bits & (sign_mask - 1);
    std::uint32_t const shifted = magnitude << (23 - MantissaBits);
    std::uint32_t result = shifted + (static_cast<std::uint32_t>(127 - bias) << 23);
    if constexpr (bias != 127) {
      constexpr std::uint32_t unit = static_cast<std::uint32_t>(128 - bias - MantissaBits) << 23;
      float const subnormal =
          static_cast<float>(static_cast<std::int32_t>(magnitude)) * std::bit_cast<float>(unit);
      result = magnitude >> MantissaBits == 0 ? std::bit_cast<std::uint32_t>(subnormal) : result;
    }
    std::uint32_t const special =
        NoInfinity || magnitude != infinity ? 0x7fc00000u | shifted : 0x7f800000u;
    return std::bit_cast<float>(sign | (magnitude > max_finite ? special : result));
  }
};

/// An f32 from which rounding once more to a format of at most 22 bits of precision is rounding
/// once: the exact value, or the neighbour with an odd mantissa.
///   Source  Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms
///           using rounding to odd", IEEE Transactions on Computers 57(4), 2008
constexpr float round_to_odd(double value) {
  std::uint64_t const all = std::bit_cast<std::uint64_t>(value);
  std::uint32_t const sign = static_cast<std::uint32_t>(all >> 63) << 31;
  std::uint64_t const magnitude = all & 0x7fffffffffffffffu;
  constexpr std::uint64_t rebias = std::uint64_t{1023 - 127} << 52;
  std::uint32_t bits = 0;
  if (magnitude > 0x7ff0000000000000u)
    bits = 0x7fc00000u | (static_cast<std::uint32_t>(magnitude >> 29) & 0x7fffffu);
  else if (magnitude == 0x7ff0000000000000u)
    bits = 0x7f800000u;
  else if (magnitude >= rebias + (std::uint64_t{255} << 52))
    bits = 0x7f7fffffu;  // the largest finite value is odd
  else if (magnitude >= rebias + (std::uint64_t{1} << 52))
    bits = static_cast<std::uint32_t>((magnitude - rebias) >> 29) |
           static_cast<std::uint32_t>((magnitude & 0x1fffffffu) != 0);
  else if (magnitude != 0) {  // subnormal in f32, unit 2^-149
    int const exponent = static_cast<int>(magnitude >> 52);
    std::uint64_t const hidden = exponent != 0 ? std::uint64_t{1} << 52 : 0;
    std::uint64_t const significand = (magnitude & 0xfffffffffffffu) | hidden;
    int const shift = 1023 - 149 + 52 - (exponent != 0 ? exponent : 1);
    bits = shift > 53 ? 1u
                      : static_cast<std::uint32_t>(significand >> shift) |
                            static_cast<std::uint32_t>(
                                (significand & ((std::uint64_t{1} << shift) - 1)) != 0);
  }
  return std::bit_cast<float>(sign | bits);
}

template <std::integral I> constexpr float round_to_odd(I value) {
  bool const negative = value < I{0};
  std::uint64_t const wide = static_cast<std::uint64_t>(value);
  std::uint64_t const magnitude = negative ? 0 - wide : wide;
  int const shift = std::bit_width(magnitude) - 24;
  if (shift <= 0) {
    float const exact = static_cast<float>(magnitude);
    return negative ? -exact : exact;
  }
  std::uint64_t const lost = magnitude & ((std::uint64_t{1} << shift) - 1);
  float const kept = static_cast<float>((magnitude >> shift) | static_cast<unsigned>(lost != 0));
  float const scaled = kept * static_cast<float>(std::uint64_t{1} << shift);
  return negative ? -scaled : scaled;
}

constexpr float round_to_odd(float value) { return value; }

}  // namespace ricci::detail
