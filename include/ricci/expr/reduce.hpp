#pragma once

#include <ricci/expr/einsum.hpp>
#include <ricci/expr/places.hpp>

#include <concepts>
#include <limits>

namespace ricci {

/// The reductions. A user's own is a class with `template <class T> static T identity()` and
/// `template <class T> static T combine(T, T)`, associative and commutative.
namespace op {
struct sum { static constexpr auto kind = graph::reduction::sum; };
struct mean { static constexpr auto kind = graph::reduction::mean; };
struct max { static constexpr auto kind = graph::reduction::max; };
struct min { static constexpr auto kind = graph::reduction::min; };
struct prod { static constexpr auto kind = graph::reduction::prod; };
struct any { static constexpr auto kind = graph::reduction::any; };
struct all { static constexpr auto kind = graph::reduction::all; };
struct logsumexp { static constexpr auto kind = graph::reduction::logsumexp; };
struct argmax { static constexpr auto kind = graph::reduction::argmax; };
struct argmin { static constexpr auto kind = graph::reduction::argmin; };
}  // namespace op

/// A reduction of an operand's axes (bit i: axis i).
template <class Op, std::uint32_t Axes> struct reduce_op {};
/// A reduction by a pattern, its pattern_op.
template <class Op, class Pattern> struct pattern_reduce_op {};

namespace detail {

template <class Op> inline constexpr bool is_builtin_reduction = requires { Op::kind; };

template <class Op> constexpr graph::reduction reduction_kind() {
  if constexpr (is_builtin_reduction<Op>)
    return Op::kind;
  else
    return graph::reduction::user;
}

/// The dtype of a reduction's result: integers sum to i64, positions are i64, any and all boolean.
constexpr dtype reduced_dtype(graph::reduction kind, dtype type) {
  switch (kind) {
    case graph::reduction::sum:
    case graph::reduction::prod: return sum_result_of(type);
    case graph::reduction::argmax:
    case graph::reduction::argmin: return dtype::i64;
    default: return type;
  }
}
template <graph::reduction Kind, class T> using reduced_t =
    std::conditional_t<Kind == graph::reduction::sum || Kind == graph::reduction::prod, sum_result_t<T>,
                       std::conditional_t<Kind == graph::reduction::argmax || Kind == graph::reduction::argmin,
                                          i64, T>>;

constexpr bool reduction_takes(std::string_view who, graph::reduction kind, dtype type, message* why) {
  if (kind == graph::reduction::mean || kind == graph::reduction::logsumexp) return takes_floats(who, type, why);
  if (kind != graph::reduction::any && kind != graph::reduction::all) return true;
  if (type == dtype::boolean) return true;
  if (why) *why << who << ": operand 1 is " << name_of(type) << ", it takes boolean (a comparison gives one)";
  return false;
}

/// Is Op one of `op::`, or a user's reduction of T?
template <class Op, class T>
concept ReductionOf = is_builtin_reduction<Op> || requires(T t) {
  { Op::template identity<T>() } -> std::convertible_to<T>;
  { Op::template combine<T>(t, t) } -> std::convertible_to<T>;
};

/// A user's reduction as plain data.
template <class Op, class T> graph::user_reduction const* user_reduction_of() {
  if constexpr (is_builtin_reduction<Op>) {
    return nullptr;
  } else {
    static T const identity = Op::template identity<T>();
    static graph::user_reduction const reduction{
        &identity, [](void* accumulators, void const* elements, std::int64_t count) {
          T* const a = static_cast<T*>(accumulators);
          T const* const x = static_cast<T const*>(elements);
          for (std::int64_t i = 0; i < count; ++i) a[i] = Op::template combine<T>(a[i], x[i]);
        }};
    return &reduction;
  }
}

template <fixed_string Who, class Op, class X, class... A> struct short_reduce_rule {
  static constexpr bool check(message* why) {
    if (!axes_of_operand_rule<Who, X, A...>::check(why)) return false;
    if constexpr (is_node<X>)
      return reduction_takes(Who.view(), Op::kind, dtype_of<typename bare<X>::element_type>, why);
    return true;
  }
};

constexpr std::uint32_t axes_mask(axes_list const& has, axes_list const& reduced) {
  if (reduced.rank == 0) return (std::uint32_t{1} << has.rank) - 1;
  std::uint32_t mask = 0;
  for (int i = 0; i < reduced.rank; ++i) mask |= std::uint32_t{1} << find_axis(has, reduced.axes[i]);
  return mask;
}

template <fixed_string Who, class Op, class... A, class X> auto short_reduce(X&& x) {
  using rule = short_reduce_rule<Who, Op, X, A...>;
  if constexpr (is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!keeps<rule>) {
    refuse_by<rule>();
    return poisoned{};
  } else {
    using from = bare<X>;
    constexpr axes_list reduced{axis_list<A...>, sizeof...(A)};
    constexpr places kept = sizeof...(A) == 0 ? places{} : places_without(axes_of_value<X>(), reduced);
    constexpr std::uint32_t mask = axes_mask(axes_of_value<X>(), reduced);
    using result = node_like<X, pick<typename from::axes_type, kept>, reduced_t<Op::kind, typename from::element_type>>;
    return expression<reduce_op<Op, mask>, result, operand_type<X>>(
        make_node{}, graph::reduce(Op::kind, operand(static_cast<X&&>(x)), {result::axes, result::rank}, mask,
                                   dtype_of<typename result::element_type>));
  }
}

template <class Op, fixed_string P, class Types, class... X> struct reduce_rule {
  using pattern = pattern_rule<word::reduce, P, Types, X...>;
  static constexpr bool check(message* why) {
    if constexpr (!keeps<pattern>) {
      return pattern::check(why);
    } else {
      return operation_fits(why);
    }
  }
  static constexpr bool operation_fits(message* why) {
    using T = typename bare<pack_element<0, X...>>::element_type;
    if constexpr (!ReductionOf<Op, T>) {
      if (why)
        *why << "reduce: the first type is no reduction: op::sum, op::max, ... or a class with `identity<T>()` and "
                "`combine<T>(a, b)`";
      return false;
    } else if constexpr (is_builtin_reduction<Op>) {
      return reduction_takes("reduce", Op::kind, dtype_of<T>, why);
    } else {
      return true;
    }
  }
};

template <class Types, class Arguments> struct asked_reduce;
template <class Types, class... X> struct asked_reduce<Types, pack<X...>> {
  template <class Op, fixed_string P> using rule = reduce_rule<Op, P, Types, X...>;
};
template <class Op, class Axes, class Operand> struct asked_short_reduce;
template <class Op, class... A, class X>
struct asked_short_reduce<Op, pack<A...>, pack<X>> : short_reduce_rule<"reduce", Op, X, A...> {};

template <class X> struct missing_reduction_rule {
  static constexpr bool check(message* why) {
    if (why) *why << "reduce: the operation stands before the pattern: op::sum, op::max, ... or one of your own";
    return false;
  }
};

}  // namespace detail

/// Reduces the indices that the result lacks.
///   Axes    P: one operand group -> result group; Types: result axes that x lacks
///   Value   Op over the indices dropped: op::sum mean max min prod any all logsumexp argmax argmin,
///           or the user's own
///   Dtype   f16, bf16, f8 accumulate in f32 and round once; sums of integers are i64; argmax: i64
///   Memory  a new tensor; x may be any view     Lowers  one pass (kernels/reduce)
///   Grad    sum, mean: broadcast; max, min: shared by ties; prod; logsumexp: softmax
///   Errors  the pattern's rules; mean and logsumexp of integers, any and all of numbers (compile
///           time); max of nothing: shape_error
template <class Op, fixed_string P, class... Types, class X, class... Given>
[[nodiscard]] auto reduce(X&& x, Given const&... given) {
  using rule = detail::reduce_rule<Op, P, pack<Types...>, X, Given...>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using call = typename rule::pattern::call;
    using T = typename detail::bare<X>::element_type;
    constexpr auto kind = detail::reduction_kind<Op>();
    using result = typename call::template result_node<detail::reduced_t<kind, T>, typename detail::bare<X>::device>;
    std::int64_t extents[result::rank + 1]{};
    call::template fill_given<result>(extents, x, given...);
    return expression<pattern_reduce_op<Op, typename call::op>, result, detail::operand_type<X>>(
        detail::make_node{},
        graph::reduce(kind, detail::user_reduction_of<Op, T>(), call::bound.spec, {result::axes, result::rank},
                      detail::operand(static_cast<X&&>(x)), extents,
                      dtype_of<typename result::element_type>));
  }
}

/// Without the operation, or without a pattern: refused.
template <fixed_string P, class... Types, class X, class... Given>
  requires detail::SomeNode<X>
auto reduce(X&&, Given const&...) {
  if constexpr (!detail::is_poisoned<X>) detail::refuse_by<detail::missing_reduction_rule<X>>();
  return poisoned{};
}
template <class... T, class X>
  requires detail::SomeNode<X>
auto reduce(X&&) {
  if constexpr (!detail::is_poisoned<X>) detail::refuse_by<detail::missing_pattern_rule<word::reduce, X>>();
  return poisoned{};
}

/// Would reduce<Op, P, ...> take this call? The types as in the call: those after the pattern, then x's.
template <class Op, fixed_string P, class... T> inline constexpr bool reduce_ok =
    detail::keeps<typename detail::asked_reduce<typename detail::split_axes<pack<>, T...>::axes,
                                                typename detail::split_axes<pack<>, T...>::rest>::template rule<Op, P>>;

/// Would the short form of op::sum, op::max, ... take this call? reduction_ok<op::sum, Seq, X>.
template <class Op, class... T> inline constexpr bool reduction_ok =
    detail::keeps<detail::asked_short_reduce<Op, typename detail::split_axes<pack<>, T...>::axes,
                                             typename detail::split_axes<pack<>, T...>::rest>>;

}  // namespace ricci
