#pragma once

#include <ricci/expr/einsum.hpp>
#include <ricci/expr/places.hpp>

namespace ricci {
namespace detail {
template <class... A> constexpr auto names_of() {
  return (fixed_string("") + ... + (A::name + " "));
}

/// Both operands have the axes that are contracted.
template <class X, class Y, class... A> struct dot_rule {
  static constexpr bool check(message* why) {
    operand_facts const facts[] = {facts_of_operand<X>(), facts_of_operand<Y>()};
    if (!operands_fit("dot", facts, 2, true, why)) return false;
    if constexpr (!(is_axis<A> && ...)) {
      if (why) *why << "dot: the types in < > are axes";
      return false;
    } else if constexpr (is_node<X> && is_node<Y>) {
      constexpr axes_list wanted{axis_list<A...>, sizeof...(A)};
      return axes_are_there("dot", axes_of_value<X>(), wanted, why) &&
             axes_are_there("dot", axes_of_value<Y>(), wanted, why, operand_place(1));
    }
    return true;
  }
};
}  // namespace detail

/// The contraction of two values over named axes.
///   Axes    a: [..., A...], b: [..., A...] -> a's other axes, then b's that a lacks; axes in both
///           that are not contracted are batched
///   Value, Dtype, Lowers, Grad   einsum<"... a, ... a -> ...">(a, b)
///   Errors  those of einsum
template <class... A, class X, class Y>
  requires detail::SomeNode<X, Y>
[[nodiscard]] auto dot(X&& a, Y&& b) {
  using rule = detail::dot_rule<X, Y, A...>;
  if constexpr (detail::is_poisoned<X> || detail::is_poisoned<Y>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    return einsum<"... " + detail::names_of<A...>() + ", ... " + detail::names_of<A...>() +
                  "-> ...">(static_cast<X&&>(a), static_cast<Y&&>(b));
  }
}

/// Would dot<A...> take values of the types X and Y? (dot_ok<A, X, Y>)
template <class... T> inline constexpr bool dot_ok = detail::asks<detail::dot_rule, T...>;

}  // namespace ricci
