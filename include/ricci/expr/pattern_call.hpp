#pragma once

#include <ricci/expr/expression.hpp>
#include <ricci/pattern/bind.hpp>

#include <utility>

/// What einsum, rearrange, reduce and repeat share: binding the pattern to the types of a call.
namespace ricci {

/// An operation given by a pattern: which word, and the bound pattern as integers (its code, eight
/// entries a number). No string stands in the type of a value.
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

/// Throws shape_error for an extent that was given by value and is negative.
void check_given(char const* who, axis_info const* axis, std::int64_t extent);

template <class X> constexpr axes_list axes_of() {
  if constexpr (is_node<X>)
    return {bare<X>::axes, bare<X>::rank};
  else
    return {};
}

/// One call: P bound to the axes of X... with the axis types of the pack Types.
template <word W, fixed_string P, class Types, class... X> struct bound_call {
  static constexpr int operands = count_operands<X...>();
  static constexpr axis_info const* given[sizeof...(X) + 1] = {axis_or_none<bare<X>>()..., nullptr};

  static constexpr bound_pattern bind(message* why) {
    axes_list const lists[] = {axes_of<X>()...};
    constexpr axes_list extra = axes_in<Types>;
    std::uint32_t values = 0;
    for (int i = 0; i < extra.rank; ++i)
      for (int j = operands; j < static_cast<int>(sizeof...(X)); ++j)
        if (is_same_axis(given[j], extra.axes[i])) values |= std::uint32_t{1} << i;
    return binder(W, P.view(), lists, operands, extra, values, why).run();
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
      typename spread<T, D, join<typename axes_pack<X>::type..., Types>>::type;

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
    if constexpr (!all_axes<Types>) {
      if (why) *why << name_of(W) << ": a type after the pattern is not an axis";
      return false;
    } else if constexpr (!(is_node<X> || ... || false)) {
      return arguments_fit(why);
    } else {
      if (!arguments_fit(why)) return false;
      if (why ? !call::bind(why).valid : !call::bound.valid) return false;
      return values_fit(
          name_of(W), axes_in<Types>,
          {call::given + call::operands, static_cast<int>(sizeof...(X)) - call::operands}, why);
    }
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

/// Asks the rules of calls by a pattern: the types after it first, then the arguments', as in a
/// call.
template <class Types, class Arguments> struct asked_call;
template <class Types, class... X> struct asked_call<Types, pack<X...>> {
  template <word W, fixed_string P> using rule = pattern_rule<W, P, Types, X...>;
  using first = pack_element<0, X...>;
};
template <class... T> using asked_types =
    asked_call<typename split_axes<pack<>, T...>::axes, typename split_axes<pack<>, T...>::rest>;
template <word W, fixed_string P, class... T> using asked_rule =
    typename asked_types<T...>::template rule<W, P>;

}  // namespace detail
}  // namespace ricci
