#pragma once

#include <ricci/tensor/node.hpp>

#include <limits>

namespace ricci {

/// A C++ number among the operands of an expression; it takes the tensor's dtype.
template <class T> struct number {};

namespace detail {

/// What is taken for a number: C++'s own, and the elements of tensors.
template <class X> inline constexpr bool is_number =
    std::is_arithmetic_v<bare<X>> || Dtype<bare<X>>;
template <class X> inline constexpr bool is_floating_number =
    std::is_floating_point_v<bare<X>> || is_floating_v<bare<X>>;

/// A number as a value of some dtype: `integer` counts for integers and boolean.
struct number_value {
  double floating;
  std::int64_t integer;
};

/// Throws value_error: the dtype does not hold the number.
[[noreturn]] void refuse_number(char const* who, std::int64_t value, dtype type);
[[noreturn]] void refuse_number(char const* who, std::uint64_t value, dtype type);

/// The number as an element of T: rounded to it, or the same whole number.
///   @pre  a floating number only for a floating T
template <class T, class V> number_value as_number(char const* who, V value) {
  if constexpr (is_floating_v<T>) {
    if constexpr (sizeof(T) >= 4)
      return {static_cast<double>(static_cast<T>(value)), 0};
    else if constexpr (std::is_arithmetic_v<V>)
      return {static_cast<double>(static_cast<f32>(T(value))), 0};
    else
      return {static_cast<double>(static_cast<f32>(T(static_cast<f32>(value)))), 0};
  } else if constexpr (std::is_same_v<V, bool>) {
    return {value ? 1.0 : 0.0, value ? 1 : 0};
  } else {
    using wide = std::conditional_t<std::is_signed_v<V>, std::int64_t, std::uint64_t>;
    auto const low = static_cast<std::int64_t>(std::numeric_limits<T>::min());
    auto const high = static_cast<std::int64_t>(std::numeric_limits<T>::max());
    auto const whole = static_cast<wide>(value);
    bool fits = whole <= static_cast<wide>(high);
    if constexpr (std::is_signed_v<V>) fits = fits && whole >= low;
    if (!fits) refuse_number(who, whole, dtype_of<T>);
    return {static_cast<double>(whole), static_cast<std::int64_t>(whole)};
  }
}

}  // namespace detail
}  // namespace ricci
