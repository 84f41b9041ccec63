#pragma once

#include <limits>

#include <ricci/tensor/dtype.hpp>

namespace ricci::kernels {

/// One element from one dtype to another; the rules are those of convert (convert.hpp).
///   Value   as a branch-free expression, so that loops over it vectorize
template <Dtype To, Dtype From> constexpr To convert_value(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_floating_v<From> && !std::is_floating_point_v<From>) {
    return convert_value<To>(static_cast<f32>(value));
  } else if constexpr (std::is_same_v<To, boolean>) {
    return value != From{0};
  } else if constexpr (is_integer_v<To> && is_floating_v<From>) {
    // The ends are compared and cut as floats; the upper one may lie just outside To, whose
    // largest value is then selected after the cast.
    using limits = std::numeric_limits<To>;
    constexpr From low = static_cast<From>(limits::min());
    constexpr From high = static_cast<From>(limits::max());
    constexpr bool high_is_exact = limits::digits <= std::numeric_limits<From>::digits;
    bool const above = high_is_exact ? value > high : value >= high;
    From const bounded = value < low ? low : above || value != value ? From{0} : value;
    return above ? limits::max() : static_cast<To>(bounded);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace ricci::kernels
