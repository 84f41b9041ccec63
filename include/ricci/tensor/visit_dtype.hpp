#pragma once

#include <type_traits>
#include <utility>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/dtype.hpp>

namespace ricci {

/// Calls `f(std::type_identity<T>{})` with the C++ type of a dtype.
///   Value   what f returns; the same type for every T
///   Cost    one switch; f is instantiated thirteen times, so keep it out of widely used headers
///   Errors  value_error if the value is no enumerator (a damaged file)
template <class F> constexpr decltype(auto) visit(dtype type, F&& f) {
  switch (type) {
    case dtype::f64:
      return std::forward<F>(f)(std::type_identity<f64>{});
    case dtype::f32:
      return std::forward<F>(f)(std::type_identity<f32>{});
    case dtype::f16:
      return std::forward<F>(f)(std::type_identity<f16>{});
    case dtype::bf16:
      return std::forward<F>(f)(std::type_identity<bf16>{});
    case dtype::f8_e4m3:
      return std::forward<F>(f)(std::type_identity<f8_e4m3>{});
    case dtype::f8_e5m2:
      return std::forward<F>(f)(std::type_identity<f8_e5m2>{});
    case dtype::i64:
      return std::forward<F>(f)(std::type_identity<i64>{});
    case dtype::i32:
      return std::forward<F>(f)(std::type_identity<i32>{});
    case dtype::i16:
      return std::forward<F>(f)(std::type_identity<i16>{});
    case dtype::i8:
      return std::forward<F>(f)(std::type_identity<i8>{});
    case dtype::u16:
      return std::forward<F>(f)(std::type_identity<u16>{});
    case dtype::u8:
      return std::forward<F>(f)(std::type_identity<u8>{});
    case dtype::boolean:
      return std::forward<F>(f)(std::type_identity<boolean>{});
  }
  throw value_error("visit: the number " + std::to_string(static_cast<int>(type)) +
                    " names no dtype; a dtype is one of the 13 from f64 to boolean.");
}

}  // namespace ricci
