#pragma once

#include <ricci/expr/pattern_call.hpp>

namespace ricci {
namespace detail {

template <class X> graph::handle operand_or_none(X&& x) {
  if constexpr (is_node<X>)
    return operand(static_cast<X&&>(x));
  else
    return {};
}

template <class X> struct operand_pack { using type = pack<>; };
template <class X>
  requires is_node<X>
struct operand_pack<X> { using type = pack<operand_type<X>>; };

template <class Op, class Node, class Operands> struct expression_over;
template <class Op, class Node, class... X> struct expression_over<Op, Node, pack<X...>> {
  using type = expression<Op, Node, X...>;
};
/// The expression type of operation Op on the operands among X... (axis values are not).
template <class Op, class Node, class... X> using expression_type =
    typename expression_over<Op, Node, join<typename operand_pack<X>::type...>>::type;

}  // namespace detail

/// Contraction of one, two or more operands over named indices.
///   Axes    P: operand groups -> result group (pattern grammar: pattern/bind.hpp); Types: the types
///           of result axes that no operand has; values at the end give their extents. Among them
///           in any order what steers (plan/lowering.hpp): one of `lowering::...` for two operands,
///           path<...> for more
///   Value   result(indices kept) = sum over the other indices of the product of the operands
///   Dtype   that of the operands, all the same; f16, bf16, f8 accumulate in f32, integers in i64
///           (modulo their bits). More than two operands round after each pair
///   Lowers  two operands: the cheapest of loops and matrix products, operands copied or not
///           (plan/candidates.hpp), or what `lowering::...` says; more: pairwise in the cheapest
///           order (plan/order.hpp), or that of `path<...>`
///   Grad    each operand: einsum of dy with the other operands
///   Errors  every rule of the pattern and of static extents while compiling, a path that is none,
///           a lowering that the contraction cannot have; dynamic extents that differ throw
///           shape_error with the same sentence
template <fixed_string P, class... Types, class... X> [[nodiscard]] auto einsum(X&&... x) {
  using rule = detail::pattern_rule<word::einsum, P, pack<Types...>, X...>;
  if constexpr ((detail::is_poisoned<X> || ...)) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using call = typename rule::call;
    using result = typename call::template result_of_first<X...>;
    std::int64_t given[result::rank + 1]{};
    call::template fill_given<result>(given, x...);
    graph::handle const operands[] = {detail::operand_or_none(static_cast<X&&>(x))...};
    return detail::expression_type<typename call::op, result, X...>(
        detail::make_node{},
        graph::einsum(call::bound.spec, {result::axes, result::rank}, operands, given));
  }
}

/// Without a pattern: refused.
template <class... X>
  requires detail::SomeNode<X...>
auto einsum(X&&...) {
  if constexpr (!(detail::is_poisoned<X> || ...)) detail::refuse_by<detail::missing_pattern_rule<word::einsum, X...>>();
  return poisoned{};
}

/// Would einsum take this call? The types as in the call: those after the pattern, then those of the
/// operands: einsum_ok<"batch=b -> query=b", Query, X>, einsum_ok<"i k, k j -> i j", lowering::loops,
/// A, B>.
template <fixed_string P, class... T>
inline constexpr bool einsum_ok = detail::keeps<detail::asked_rule<word::einsum, P, T...>>;

}  // namespace ricci
