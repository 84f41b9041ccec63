#pragma once

#include <ricci/expr/expression.hpp>
#include <ricci/expr/given_extents.hpp>
#include <ricci/expr/steering.hpp>
#include <ricci/pattern/bind.hpp>
#include <ricci/pattern/numbers.hpp>
#include <ricci/tensor/view.hpp>

#include <utility>

/// What einsum, rearrange, reduce and repeat share: binding the pattern to the types of a call.
namespace ricci {

/// An operation given by a pattern: which word, and the bound pattern as integers (its code with
/// the steering of an einsum, eight entries a number). No string stands in the type of a value.
template <word W, std::uint64_t... Code> struct pattern_op {};

namespace detail {

/// How many of a call's arguments are operands: all before the axis values at its end.
template <class... X> consteval int count_operands() {
  bool const values[] = {is_axis<bare<X>>..., true};
  int n = 0;
  while (!values[n]) ++n;
  return n;
}

constexpr std::uint64_t code_word(graph::pattern_spec const& spec, int word) {
  std::uint64_t result = 0;
  for (int i = 0; i < 8; ++i)
    result |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(spec.code[word * 8 + i]))
              << (8 * i);
  return result;
}

/// The infos of the axis values at the end of a call, and their numbers.
template <class X> constexpr axis_info const* axis_or_none() {
  if constexpr (is_axis<X>)
    return &axis_info_of<X>;
  else
    return &no_axis;
}
template <class X> std::int64_t given_value(X const& x) {
  if constexpr (is_axis<X>)
    return x.value;
  else
    return -1;
}

template <class X> constexpr axes_list axes_of() {
  if constexpr (is_node<X>)
    return {bare<X>::axes, bare<X>::rank};
  else
    return {};
}

template <class Op> constexpr layout expression_layout(int rank) {
  if constexpr (requires { Op::layout_value; })
    return Op::layout_value;
  else
    return layout::packed(rank);
}

/// The layout that an operand of a call has once it is evaluated; an axis value has none.
template <class X> constexpr layout planned_layout() {
  if constexpr (!is_node<X>) {
    return {};
  } else {
    using operand = operand_type<X>;
    if constexpr (operand::is_view)
      return operand::layout_value;
    else if constexpr (operand::is_expression)
      return expression_layout<typename operand::operation>(operand::rank);
    else
      return layout::packed(operand::rank);
  }
}

/// One call: P bound to the axes of X... with the axis types of the pack Types, and steered by the
/// others.
template <word W, fixed_string P, class Types, class... X> struct bound_call {
  using types = typename steered<Types>::axes;
  static constexpr int operands = count_operands<X...>();
  static constexpr axis_info const* given[sizeof...(X) + 1] = {axis_or_none<bare<X>>()..., nullptr};

  static constexpr bound_pattern bind(message* why) {
    axes_list const lists[] = {axes_of<X>()...};
    constexpr axes_list extra = axes_in<types>;
    std::uint32_t values = 0;
    for (int i = 0; i < extra.rank; ++i)
      for (int j = operands; j < static_cast<int>(sizeof...(X)); ++j)
        if (is_same_axis(given[j], extra.axes[i])) values |= std::uint32_t{1} << i;
    bound_pattern result = binder(W, P.view(), lists, operands, extra, values, why).run();
    if constexpr (W == word::einsum)
      if (result.valid) result.valid = steer(result.spec, steered<Types>::how, why);
    if (result.valid) write_numbers(result.spec);
    return result;
  }
  static constexpr bound_pattern bound = bind(nullptr);

  /// The result's axes, out of those of the operands and the types after the pattern.
  template <class T, class D, class... All> struct result {
    static constexpr int flat(int axis) {
      int const source = bound.source[axis];
      int const ranks[] = {axes_of<X>().rank...};
      int const operand = source >= bound_pattern::extra ? operands : source >> 5;
      int place = source >= bound_pattern::extra ? source - bound_pattern::extra : source & 31;
      for (int g = 0; g < operand; ++g) place += ranks[g];
      return place;
    }
    template <std::size_t... I>
    static node<T, D, pack_element<flat(I), All...>...> pick(std::index_sequence<I...>);
    using type = decltype(pick(std::make_index_sequence<bound.result_rank>{}));
  };
  template <std::size_t... I>
  static pattern_op<W, code_word(bound.spec, I)...> operation(std::index_sequence<I...>);
  using op = decltype(operation(std::make_index_sequence<(bound.spec.code_size + 7) / 8>{}));

  template <class T, class D, class All> struct spread;
  template <class T, class D, class... All> struct spread<T, D, pack<All...>>
      : result<T, D, All...> {};
  template <class X1> struct axes_pack {
    using type = pack<>;
  };
  template <class X1>
    requires is_node<X1>
  struct axes_pack<X1> {
    using type = typename bare<X1>::axes_type;
  };
  template <class T, class D> using result_node =
      typename spread<T, D, join<typename axes_pack<X>::type..., types>>::type;

  template <class First, class...> using result_of_first =
      result_node<typename bare<First>::element_type, typename bare<First>::device>;

  /// The extents given by value, one for each axis of the result.
  template <class Node> static void fill_given(std::int64_t* extents, X const&... x) {
    std::int64_t const values[] = {given_value<bare<X>>(x)...};
    for (int j = operands; j < static_cast<int>(sizeof...(X)); ++j)
      if (values[j] < 0) check_given(name_of(W), given[j], values[j]);
    for (int i = 0; i < Node::rank; ++i) {
      extents[i] = -1;
      for (int j = operands; j < static_cast<int>(sizeof...(X)); ++j)
        if (given[j] == Node::axes[i]) extents[i] = values[j];
    }
  }
};

/// The axis values at the end of a call: each for a dynamic type after the pattern, once.
constexpr bool values_fit(std::string_view who, axes_list const& types, axes_list const& given,
                          message* why) {
  for (int i = 0; i < given.rank; ++i) {
    axis_info const* const axis = given.axes[i];
    bool const is_type = same_axis_among(types, axis);
    bool const is_twice = same_axis_among({given.axes, i}, axis);
    if (is_type && !is_twice && axis->extent < 0) continue;
    if (!why) return false;
    if (is_twice) {
      *why << who << ": the extent of axis ";
      why->quote(axis->view()) << " is given twice";
    } else if (is_type) {
      *why << who << ": axis ";
      why->quote(axis->view()) << " has the static extent " << axis->extent
                               << ": it is not given by value";
    } else {
      *why << who << ": an extent is given for axis ";
      why->quote(axis->view()) << ", which is not among the axis types after the pattern";
      suggest(*why, axis->view(), types);
    }
    return false;
  }
  return true;
}

/// Every rule of a call by a pattern: its arguments, the pattern, the static extents.
template <word W, fixed_string P, class Types, class... X> struct pattern_rule {
  using call = bound_call<W, P, Types, X...>;

  static constexpr bool arguments_fit(message* why) {
    constexpr int operands = count_operands<X...>();
    constexpr operand_facts facts[] = {facts_of_operand<X>()..., {}};
    constexpr bool values[] = {is_axis<bare<X>>..., false};
    for (int i = operands; i < static_cast<int>(sizeof...(X)); ++i)
      if (!values[i]) {
        if (why)
          *why << name_of(W) << ": argument " << i + 1
               << " stands behind an axis value: operands come first";
        return false;
      }
    if (operands == 0) {
      if (why) *why << name_of(W) << ": operand 1 is missing";
      return false;
    }
    return operands_fit(name_of(W), facts, operands, true, why);
  }
  static constexpr bool check(message* why) {
    if constexpr (!all_axes<typename steered<Types>::axes>) {
      if (why) *why << name_of(W) << ": a type after the pattern is not an axis";
      return false;
    } else if constexpr (W != word::einsum && steered<Types>::any) {
      if (why)
        *why << name_of(W)
             << ": `lowering` and `path` types after the pattern steer an einsum, nothing else";
      return false;
    } else if constexpr (!(is_node<X> || ... || false)) {
      return arguments_fit(why);
    } else {
      if (!arguments_fit(why)) return false;
      if (why ? !call::bind(why).valid : !call::bound.valid) return false;
      if (!values_fit(
              name_of(W), axes_in<typename call::types>,
              {call::given + call::operands, static_cast<int>(sizeof...(X)) - call::operands}, why))
        return false;
      if constexpr (steered<Types>::how.lowering != lowering_code::automatic)
        return forced_fits(why);
      else
        return true;
    }
  }
  // Only where a lowering is forced: the candidates cost the compiler more than the pattern.
  static constexpr bool forced_fits(message* why) {
    constexpr layout known[] = {planned_layout<X>()...};
    constexpr dtype type = dtype_of<typename bare<pack_element<0, X...>>::element_type>;
    return lowering_fits(call::bound.spec, known, type, steered<Types>::how.lowering, why);
  }
};

/// A call without its pattern.
template <word W, class... X> struct missing_pattern_rule {
  static constexpr bool check(message* why) {
    if (why)
      *why << name_of(W)
           << ": the pattern is missing: it is the string in < >, `row col -> row` for example";
    return false;
  }
};

/// The types after a pattern, at the beginning of a list, and the rest. (nvcc never takes a partial
/// specialization that a constraint chooses here: hence the flag.)
template <class... T> inline constexpr bool begins_with_type = false;
template <class First, class... T> inline constexpr bool begins_with_type<First, T...> =
    is_axis<First> || is_steering<First>;
template <bool Begins, class Types, class... T> struct split_types {
  using types = Types;
  using rest = pack<T...>;
};
template <class... A, class Next, class... T> struct split_types<true, pack<A...>, Next, T...>
    : split_types<begins_with_type<T...>, pack<A..., Next>, T...> {};

/// Asks the rules of calls by a pattern: the types after it first, then the arguments', as in a
/// call.
template <class Types, class Arguments> struct asked_call;
template <class Types, class... X> struct asked_call<Types, pack<X...>> {
  template <word W, fixed_string P> using rule = pattern_rule<W, P, Types, X...>;
  using first = pack_element<0, X...>;
};
template <class... T> using types_and_rest = split_types<begins_with_type<T...>, pack<>, T...>;
template <class... T> using asked_types =
    asked_call<typename types_and_rest<T...>::types, typename types_and_rest<T...>::rest>;
template <word W, fixed_string P, class... T> using asked_rule =
    typename asked_types<T...>::template rule<W, P>;

}  // namespace detail
}  // namespace ricci
