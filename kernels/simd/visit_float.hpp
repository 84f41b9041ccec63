#pragma once

#include <string>
#include <type_traits>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/dtype.hpp>

namespace ricci::kernels {

/// Calls f(std::type_identity<T>{}) with the C++ type of one of the four dtypes that the kernels of
/// networks compute with.
///   Errors  value_error, naming `who`, for any other dtype
template <class F> void visit_float(dtype type, char const* who, F&& f) {
  switch (type) {
    case dtype::f32:
      return f(std::type_identity<f32>{});
    case dtype::f64:
      return f(std::type_identity<f64>{});
    case dtype::bf16:
      return f(std::type_identity<bf16>{});
    case dtype::f16:
      return f(std::type_identity<f16>{});
    default:
      throw value_error(std::string(who) + ": got elements of " + std::string(name_of(type)) +
                        "; it takes f32, f64, bf16 or f16 (convert with `to<>`).");
  }
}

}  // namespace ricci::kernels
