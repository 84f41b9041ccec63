#pragma once

#include <ricci/expr/einsum.hpp>
#include <ricci/pattern/rearranged.hpp>
#include <ricci/tensor/view_step.hpp>

namespace ricci {

/// A view of an expression's result that has not run; L is the layout that the view will have. Axis:
/// which axis of the operand the step is about (of broadcast: how many are new); Second: the other
/// axis of a diagonal, or whether a slice has a step.
template <layout L, view_step Step, int Axis = 0, int Second = 0> struct viewed_op {
  static constexpr layout layout_value = L;
};
/// The same of a rearrangement; Pattern is its pattern_op.
template <layout L, class Pattern> struct rearranged_op {
  static constexpr layout layout_value = L;
};

namespace detail {

/// A view of a tensor or a view is a view; of an expression, an expression.
template <class X, class Node, class Op> struct view_result {
  using type = view<Node, Op::layout_value>;
};
template <class X, class Node, class Op>
  requires(bare<X>::is_expression && !std::is_lvalue_reference_v<X>)
struct view_result<X, Node, Op> { using type = expression<Op, Node, bare<X>>; };
template <class X, class Node, layout L, view_step Step, int Axis = 0, int Second = 0>
using view_type = typename view_result<X, Node, viewed_op<L, Step, Axis, Second>>::type;

template <class Op>
concept ViewOp = requires { Op::layout_value; };

/// The layout that X's result has once it is evaluated.
template <class X> consteval layout operand_layout() {
  if constexpr (!bare<X>::is_expression) {
    return layout_of<X>();
  } else if constexpr (!std::is_lvalue_reference_v<X> && ViewOp<typename bare<X>::operation>) {
    return bare<X>::operation::layout_value;
  } else {
    return layout::packed(bare<X>::rank);
  }
}

template <class Rule, class X, class... Given> auto rearrange_call(X&& x, Given const&... given) {
  using call = typename Rule::call;
  using result = typename call::template result_of_first<X>;
  constexpr rearrangement r = rearranged(call::bound.spec, operand_layout<X>());
  std::int64_t extents[result::rank + 1]{};
  call::template fill_given<result>(extents, x, given...);
  graph::handle handle =
      graph::rearrange(call::bound.spec, {result::axes, result::rank}, operand(static_cast<X&&>(x)), extents);
  if constexpr (r.is_view) {
    constexpr layout l = r.result;
    return typename view_result<X, result, rearranged_op<l, typename call::op>>::type(
        make_node{}, std::move(handle));
  } else {
    return expression<typename call::op, result, operand_type<X>>(make_node{}, std::move(handle));
  }
}

/// The rules of rearrange, and no copy.
template <class Rule, class X> struct rearrange_view_rule {
  static constexpr bool check(message* why) {
    if constexpr (!keeps<Rule>) {
      return Rule::check(why);
    } else {
      graph::pattern_spec const& spec = Rule::call::bound.spec;
      rearrangement const r = rearranged(spec, operand_layout<X>());
      if (r.is_view) return true;
      if (why) {
        auto const name = [&](int id) {
          return std::string_view(spec.name[id], static_cast<std::size_t>(spec.name_size[id]));
        };
        *why << "rearrange_view: ";
        why->quote(name(r.slower)) << " and ";
        why->quote(name(r.faster)) << " of operand 1 are not adjacent in memory, so that merging them needs a copy "
                                      "(rearrange makes it)";
      }
      return false;
    }
  }
};

}  // namespace detail

/// Splits, permutes and merges axes; every element stays.
///   Axes    P: one operand group -> result group; Types: result axes that x lacks; values at the end
///           give extents of dynamic ones: rearrange<"hidden=(h w) -> h w", H, W>(x, H{3})
///   Value   the elements of x under other axes
///   Memory  a view of a tensor where its layout allows (decided from types), else one copy
///   Grad    the inverse rearrangement
///   Errors  an index dropped, invented or unknown, an extent that does not divide (compile time
///           where static, else shape_error)
template <fixed_string P, class... Types, class X, class... Given>
[[nodiscard]] auto rearrange(X&& x, Given const&... given) {
  using rule = detail::pattern_rule<word::rearrange, P, pack<Types...>, X, Given...>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    return detail::rearrange_call<rule>(static_cast<X&&>(x), given...);
  }
}

/// rearrange that does not compile when a copy would be needed, and says which two indices are not
/// adjacent in memory.
template <fixed_string P, class... Types, class X, class... Given>
[[nodiscard]] auto rearrange_view(X&& x, Given const&... given) {
  using pattern = detail::pattern_rule<word::rearrange, P, pack<Types...>, X, Given...>;
  using rule = detail::rearrange_view_rule<pattern, X>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    return detail::rearrange_call<pattern>(static_cast<X&&>(x), given...);
  }
}

/// Repeats elements along axes that the result has and x has not.
///   Axes    P: one operand group -> result group, new axes' types after P, their extents by value
///           at the end where they are not static; a number in a result axis's factors repeats too
///   Memory  a new tensor (broadcast makes a view)     Grad  summed over the new axes
///   Errors  an index of x dropped, an extent unknown (compile time)
template <fixed_string P, class... Types, class X, class... Given>
[[nodiscard]] auto repeat(X&& x, Given const&... given) {
  using rule = detail::pattern_rule<word::repeat, P, pack<Types...>, X, Given...>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using call = typename rule::call;
    using result = typename call::template result_of_first<X>;
    std::int64_t extents[result::rank + 1]{};
    call::template fill_given<result>(extents, x, given...);
    return expression<typename call::op, result, detail::operand_type<X>>(
        detail::make_node{}, graph::repeat(call::bound.spec, {result::axes, result::rank},
                                           detail::operand(static_cast<X&&>(x)), extents));
  }
}

/// Without a pattern: refused.
template <class... X>
  requires detail::SomeNode<X...>
auto rearrange(X&&...) {
  if constexpr (!(detail::is_poisoned<X> || ...)) detail::refuse_by<detail::missing_pattern_rule<word::rearrange, X...>>();
  return poisoned{};
}
template <class... X>
  requires detail::SomeNode<X...>
auto repeat(X&&...) {
  if constexpr (!(detail::is_poisoned<X> || ...)) detail::refuse_by<detail::missing_pattern_rule<word::repeat, X...>>();
  return poisoned{};
}

/// Would these take this call? The types as in the call: those after the pattern, x's, the values'.
template <fixed_string P, class... T>
inline constexpr bool rearrange_ok = detail::keeps<detail::asked_rule<word::rearrange, P, T...>>;
template <fixed_string P, class... T>
inline constexpr bool repeat_ok = detail::keeps<detail::asked_rule<word::repeat, P, T...>>;
template <fixed_string P, class... T>
inline constexpr bool rearrange_view_ok = detail::keeps<
    detail::rearrange_view_rule<detail::asked_rule<word::rearrange, P, T...>, typename detail::asked_types<T...>::first>>;

}  // namespace ricci
