#pragma once

#include <ricci/expr/einsum.hpp>

namespace ricci {
namespace detail {
template <class... A> constexpr auto names_of() {
  return (fixed_string("") + ... + (A::name + " "));
}
}  // namespace detail

/// The contraction of two values over named axes.
///   Axes    a: [..., A...], b: [..., A...] -> a's other axes, then b's that a lacks; axes in both
///           that are not contracted are batched
///   Value, Dtype, Lowers, Grad   einsum<"... a, ... a -> ...">(a, b)
///   Errors  those of einsum
template <class... A, class X, class Y>
  requires detail::SomeNode<X, Y>
[[nodiscard]] auto dot(X&& a, Y&& b) {
  return einsum<"... " + detail::names_of<A...>() + ", ... " + detail::names_of<A...>() + "-> ...">(
      static_cast<X&&>(a), static_cast<Y&&>(b));
}

}  // namespace ricci
