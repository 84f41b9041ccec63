#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/dtype.hpp>

namespace ricci::kernels {

/// Calls f(std::type_identity<I>{}) with the C++ type of an integer dtype.
///   Errors  value_error, naming `who`, for any other dtype
template <class F> void visit_index(dtype type, char const* who, F&& f) {
  switch (type) {
    case dtype::i64:
      return f(std::type_identity<i64>{});
    case dtype::i32:
      return f(std::type_identity<i32>{});
    case dtype::i16:
      return f(std::type_identity<i16>{});
    case dtype::i8:
      return f(std::type_identity<i8>{});
    case dtype::u16:
      return f(std::type_identity<u16>{});
    case dtype::u8:
      return f(std::type_identity<u8>{});
    default:
      throw value_error(std::string(who) + ": got indices of " + std::string(name_of(type)) +
                        "; an index is an integer: i64, i32, i16, i8, u16 or u8.");
  }
}

}  // namespace ricci::kernels
