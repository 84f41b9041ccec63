#pragma once

#include <ricci/expr/given_extents.hpp>
#include <ricci/expr/operators.hpp>
#include <ricci/expr/views.hpp>

namespace ricci {
namespace detail {
template <class X, class... New> struct broadcast_rule {
  static constexpr bool check(message* why) {
    if (!axes_of_operand_rule<"broadcast", X>::check(why)) return false;
    if constexpr (!(is_axis<New> && ...)) {
      if (why) *why << "broadcast: the types in < > are axes";
      return false;
    } else if constexpr (is_node<X>) {
      return distinct_rule<"broadcast", join<pack<New...>, typename bare<X>::axes_type>>::check(why);
    }
    return true;
  }
};
}  // namespace detail

/// New axes in front, along which every element is the same.
///   Axes    x: [A...] -> [New..., A...]; extents of dynamic New by value
///   Memory  a view, stride 0      Grad  summed over New
///   Errors  an axis that x has already, an extent not given (compile time)
template <class... New, class X, class... Given>
  requires detail::SomeNode<X>
[[nodiscard]] auto broadcast(X&& x, Given const&... given) {
  using rule = detail::broadcast_rule<X, New...>;
  using extents_rule = detail::extents_rule<"broadcast", pack<New...>, Given...>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else if constexpr (!detail::keeps<extents_rule>) {
    detail::refuse_by<extents_rule>();
    return poisoned{};
  } else {
    using result = detail::node_like<X, detail::join<pack<New...>, typename detail::bare<X>::axes_type>>;
    constexpr layout l = broadcast_front(detail::operand_layout<X>(), sizeof...(New));
    std::int64_t extents[sizeof...(New) + 1]{};
    detail::fill_extents(pack<New...>{}, extents, given...);
    return detail::view_type<X, result, l, view_step::broadcast, sizeof...(New)>(
        detail::make_node{}, graph::broadcast(detail::operand(static_cast<X&&>(x)), {result::axes, result::rank},
                                              sizeof...(New), extents));
  }
}

namespace detail {
template <class A, class B> struct outer_rule {
  static constexpr bool check(message* why) {
    operand_facts const facts[] = {facts_of_operand<A>(), facts_of_operand<B>()};
    if (!operands_fit("outer", facts, 2, true, why)) return false;
    if constexpr (is_node<A> && is_node<B>)
      return distinct_rule<"outer", join<typename bare<A>::axes_type, typename bare<B>::axes_type>>::check(why);
    return true;
  }
};
struct outer_op {};
}  // namespace detail

/// The product of every element of a with every element of b.
///   Axes    a: [A...], b: [B...], none in common -> [A..., B...]
///   Lowers  one fused loop      Grad  da = sum over B of dy b, db likewise
///   Errors  an axis in common (compile time)
template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto outer(A&& a, B&& b) {
  using rule = detail::outer_rule<A, B>;
  if constexpr (detail::is_poisoned<A> || detail::is_poisoned<B>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using result = detail::node_like<
        A, detail::join<typename detail::bare<A>::axes_type, typename detail::bare<B>::axes_type>>;
    graph::handle const left = detail::operand(static_cast<A&&>(a));
    graph::handle const wide =
        graph::broadcast(detail::operand(static_cast<B&&>(b)), {result::axes, result::rank},
                         detail::bare<A>::rank, graph::extents(left));
    graph::handle const operands[] = {wide, left};
    return expression<detail::outer_op, result, detail::operand_type<A>, detail::operand_type<B>>(
        detail::make_node{}, graph::pointwise("outer", opcode::multiply, operands, 2));
  }
}

/// Would broadcast<New...> take a value of the type X? (broadcast_ok<New, X>)
template <class... T> inline constexpr bool broadcast_ok = detail::asks<detail::broadcast_rule, T...>;
/// Would outer take values of the types A and B?
template <class A, class B> inline constexpr bool outer_ok = detail::keeps<detail::outer_rule<A, B>>;

}  // namespace ricci
