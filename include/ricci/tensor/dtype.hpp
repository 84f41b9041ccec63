#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <ricci/tensor/bf16.hpp>
#include <ricci/tensor/f16.hpp>
#include <ricci/tensor/f8.hpp>

namespace ricci {

/// The element types. The enumerators are spelled as the C++ types below are.
enum class dtype : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  f8_e4m3,
  f8_e5m2,
  i64,
  i32,
  i16,
  i8,
  u16,
  u8,
  boolean
};

/// Number of enumerators of `dtype`.
inline constexpr int dtype_count = 13;

using f64 = double;
using f32 = float;
using i64 = std::int64_t;
using i32 = std::int32_t;
using i16 = std::int16_t;
using i8 = std::int8_t;
using u16 = std::uint16_t;
using u8 = std::uint8_t;
using boolean = bool;

namespace detail {

template <class T> inline constexpr int dtype_index = -1;
template <> inline constexpr int dtype_index<f64> = static_cast<int>(dtype::f64);
template <> inline constexpr int dtype_index<f32> = static_cast<int>(dtype::f32);
template <> inline constexpr int dtype_index<f16> = static_cast<int>(dtype::f16);
template <> inline constexpr int dtype_index<bf16> = static_cast<int>(dtype::bf16);
template <> inline constexpr int dtype_index<f8_e4m3> = static_cast<int>(dtype::f8_e4m3);
template <> inline constexpr int dtype_index<f8_e5m2> = static_cast<int>(dtype::f8_e5m2);
template <> inline constexpr int dtype_index<i64> = static_cast<int>(dtype::i64);
template <> inline constexpr int dtype_index<i32> = static_cast<int>(dtype::i32);
template <> inline constexpr int dtype_index<i16> = static_cast<int>(dtype::i16);
template <> inline constexpr int dtype_index<i8> = static_cast<int>(dtype::i8);
template <> inline constexpr int dtype_index<u16> = static_cast<int>(dtype::u16);
template <> inline constexpr int dtype_index<u8> = static_cast<int>(dtype::u8);
template <> inline constexpr int dtype_index<boolean> = static_cast<int>(dtype::boolean);

}  // namespace detail

/// A C++ type that a tensor can hold: one of the thirteen of `dtype`.
template <class T>
concept Dtype = detail::dtype_index<T> >= 0;

/// The enumerator of an element type: `dtype_of<f32> == dtype::f32`.
template <Dtype T> inline constexpr dtype dtype_of = static_cast<dtype>(detail::dtype_index<T>);

/// The spelling of a dtype, `bf16`.
constexpr std::string_view name_of(dtype type) {
  constexpr std::string_view names[dtype_count] = {"f64",     "f32", "f16",    "bf16", "f8_e4m3",
                                                   "f8_e5m2", "i64", "i32",    "i16",  "i8",
                                                   "u16",     "u8",  "boolean"};
  return names[static_cast<int>(type)];
}

template <Dtype T> consteval std::string_view name_of() { return name_of(dtype_of<T>); }

/// Bytes of one element.
constexpr std::int64_t size_of(dtype type) {
  constexpr std::uint8_t sizes[dtype_count] = {8, 4, 2, 2, 1, 1, 8, 4, 2, 1, 2, 1, 1};
  return sizes[static_cast<int>(type)];
}

/// f64 down to the 8-bit floats.
constexpr bool is_floating(dtype type) { return type <= dtype::f8_e5m2; }

/// i64 to u8; not boolean.
constexpr bool is_integer(dtype type) { return type >= dtype::i64 && type <= dtype::u8; }

template <class T> inline constexpr bool is_floating_v = false;
template <Dtype T> inline constexpr bool is_floating_v<T> = is_floating(dtype_of<T>);

template <class T> inline constexpr bool is_integer_v = false;
template <Dtype T> inline constexpr bool is_integer_v<T> = is_integer(dtype_of<T>);

/// The type that sums and products of T run in: f64 for f64, f32 for every narrower float, i64
/// for integers and boolean.
template <Dtype T> using accumulator_t =
    std::conditional_t<!is_floating_v<T>, i64,
                       std::conditional_t<std::is_same_v<T, f64>, f64, f32>>;

/// The type of a sum of T: i64 for integers and boolean, else T.
template <Dtype T> using sum_result_t = std::conditional_t<is_floating_v<T>, T, i64>;

constexpr dtype accumulator_of(dtype type) {
  if (!is_floating(type)) return dtype::i64;
  return type == dtype::f64 ? dtype::f64 : dtype::f32;
}

constexpr dtype sum_result_of(dtype type) { return is_floating(type) ? type : dtype::i64; }

}  // namespace ricci
