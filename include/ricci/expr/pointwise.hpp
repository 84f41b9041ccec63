#pragma once

#include <ricci/expr/expression.hpp>
#include <ricci/expr/number.hpp>

#include <type_traits>

/// Elementwise operations: how they check their operands and become expressions.
namespace ricci {

/// An elementwise operation, one register instruction of the fused loop.
template <opcode Op> struct pointwise_op {};

namespace detail {

struct pointwise_facts {
  operand_facts operand;
  axes_list axes;
  bool is_number;
  bool is_floating_number;
};
template <class X> constexpr pointwise_facts facts_of_pointwise() {
  if constexpr (is_node<X>)
    return {facts_of_operand<X>(), {bare<X>::axes, bare<X>::rank}, false, false};
  else
    return {{}, {}, is_number<X>, is_floating_number<X>};
}

constexpr bool contains(axes_list const& wide, axes_list const& narrow) {
  for (int i = 0; i < narrow.rank; ++i) {
    bool found = false;
    for (int j = 0; !found && j < wide.rank; ++j) found = is_same_axis(wide.axes[j], narrow.axes[i]);
    if (!found) return false;
  }
  return true;
}

/// The first operand whose axes contain those of all others, -1 where there is none.
constexpr int widest(axes_list const* axes, int count) {
  for (int i = 0; i < count; ++i) {
    bool all = true;
    for (int j = 0; all && j < count; ++j) all = i == j || contains(axes[i], axes[j]);
    if (all) return i;
  }
  return -1;
}

constexpr void write_no_broadcast(std::string_view who, axes_list const* axes, int count, message& m) {
  // The first two operands of which neither contains the other are shown.
  int a = 0;
  int b = 1;
  for (int i = 0; i < count; ++i)
    for (int j = i + 1; j < count; ++j)
      if (!contains(axes[i], axes[j]) && !contains(axes[j], axes[i])) {
        a = i;
        b = j;
        i = j = count;
      }
  if (write_name_clash(m, who, axes[a], operand_place(a), axes[b], operand_place(b))) return;
  m << who << ": operand " << a + 1 << " has axes [";
  write_axes(m, axes[a]);
  m << "], operand " << b + 1 << " has [";
  write_axes(m, axes[b]);
  m << "]: neither has all axes of the other (write `broadcast` or `outer`)";
  for (int j = 0; j < axes[b].rank; ++j) {
    if (contains(axes[a], {axes[b].axes + j, 1})) continue;
    if (suggest(m, axes[b].axes[j]->view(), axes[a])) return;
  }
}

/// Operand i by itself: a value or a number; the first of `where` is a boolean tensor.
constexpr bool pointwise_operand_fits(std::string_view who, bool is_mask, pointwise_facts const& x, int i,
                                      message* why) {
  if (x.operand.is_node && !x.operand.is_name && (!is_mask || x.operand.type == dtype::boolean)) return true;
  if (x.is_number && !is_mask) return true;
  if (!why) return false;
  if (x.operand.is_name) {
    write_is_name(*why, who, i);
  } else if (is_mask) {
    *why << who << ": operand 1 is ";
    if (x.operand.is_node) *why << name_of(x.operand.type);
    else *why << (x.is_number ? "a number" : "not a tensor");
    *why << ", a mask is a boolean tensor (a comparison gives one)";
  } else {
    *why << who << ": operand " << i + 1 << " is neither a tensor nor a number";
  }
  return false;
}

/// Is the operation defined on operand i's dtype?
constexpr bool pointwise_dtype_fits(std::string_view who, opcode op, dtype type, int i, message* why) {
  opcode_facts const& facts = facts_of(op);
  if (is_floating(type) ? facts.on_floats : type == dtype::boolean ? facts.on_boolean : facts.on_integers) return true;
  if (!why) return false;
  *why << who << ": operand " << i + 1 << " is " << name_of(type);
  if (facts.on_boolean) *why << ", it takes boolean (a comparison gives one)";
  else if (facts.on_integers) *why << ", it takes numbers: write `to<i32>(...)` or `to<f32>(...)`";
  else *why << ", it takes floating numbers: write `to<f32>(...)`";
  return false;
}

/// The rules of elementwise operations, over plain facts.
constexpr bool pointwise_fits(std::string_view who, opcode op, pointwise_facts const* x, int count,
                              message* why) {
  int first = -1;  // the tensor whose dtype the others and the numbers have
  for (int i = 0; i < count; ++i) {
    bool const is_mask = op == opcode::where && i == 0;
    if (!pointwise_operand_fits(who, is_mask, x[i], i, why)) return false;
    if (is_mask || x[i].is_number) continue;
    if (first < 0) first = i;
    if (x[i].operand.type != x[first].operand.type) {
      if (why)
        *why << who << ": operand " << first + 1 << " is " << name_of(x[first].operand.type)
             << ", operand " << i + 1 << " is " << name_of(x[i].operand.type)
             << ": dtypes do not mix, write `to<" << name_of(x[first].operand.type) << ">(...)`";
      return false;
    }
  }
  if (first < 0) {
    if (why) *why << who << ": the values are numbers, at least one is a tensor";
    return false;
  }
  for (int i = 0; i < count; ++i) {
    if (x[i].is_number || std::string_view(x[i].operand.device) == x[first].operand.device) continue;
    if (why)
      *why << who << ": operand " << first + 1 << " is on " << x[first].operand.device << ", operand " << i + 1 << " on "
           << x[i].operand.device << ": write `to<" << x[first].operand.device << ">(...)`";
    return false;
  }
  dtype const type = x[first].operand.type;
  if (!pointwise_dtype_fits(who, op, type, first, why)) return false;
  for (int i = 0; i < count; ++i) {
    if (!x[i].is_floating_number || is_floating(type)) continue;
    if (why)
      *why << who << ": operand " << i + 1 << " is a floating number, operand " << first + 1 << " is "
           << name_of(type) << ": write an integer or `to<f32>(...)`";
    return false;
  }
  axes_list axes[4]{};
  for (int i = 0; i < count; ++i) axes[i] = x[i].axes;
  if (widest(axes, count) >= 0) return true;
  if (why) write_no_broadcast(who, axes, count, *why);
  return false;
}

template <fixed_string Who, opcode Op, class... X> struct pointwise_rule {
  static constexpr bool check(message* why) {
    pointwise_facts const facts[] = {facts_of_pointwise<X>()...};
    return pointwise_fits(Who.view(), Op, facts, sizeof...(X), why);
  }
};

/// The dtype that numbers among X... take: that of the (last) tensor; a mask comes first.
template <class... X> struct last_element { using type = void; };
template <class X, class... Rest> struct last_element<X, Rest...> {
  using rest = typename last_element<Rest...>::type;
  template <class Y> struct own { using type = void; };
  template <class Y>
    requires is_node<Y>
  struct own<Y> { using type = typename bare<Y>::element_type; };
  using type = std::conditional_t<std::is_void_v<rest>, typename own<X>::type, rest>;
};

template <class T, class X> graph::handle pointwise_operand(char const* who, X&& x) {
  if constexpr (is_node<X>) {
    return operand(static_cast<X&&>(x));
  } else {
    number_value const value = as_number<T>(who, static_cast<bare<X>>(x));
    return graph::constant(dtype_of<T>, value.floating, value.integer);
  }
}
template <class T, class X> struct pointwise_operand_of { using type = number<T>; };
template <class T, class X>
  requires is_node<X>
struct pointwise_operand_of<T, X> { using type = operand_type<X>; };

template <class X> constexpr axes_list axes_or_none() { return facts_of_pointwise<X>().axes; }
template <class... X> consteval int widest_of() {
  axes_list const axes[] = {axes_or_none<X>()...};
  bool const tensors[] = {is_node<X>...};
  int const place = widest(axes, sizeof...(X));
  if (tensors[place]) return place;
  // Numbers beside rank-0 tensors: the result is like the tensor.
  int first = 0;
  while (!tensors[first]) ++first;
  return first;
}

/// One elementwise operation on nodes and numbers.
template <fixed_string Who, opcode Op, class... X> auto pointwise(X&&... x) {
  using rule = pointwise_rule<Who, Op, X...>;
  if constexpr ((is_poisoned<X> || ...)) {
    return poisoned{};
  } else if constexpr (!keeps<rule>) {
    refuse_by<rule>();
    return poisoned{};
  } else {
    using T = typename last_element<X...>::type;
    using wide = bare<pack_element<widest_of<X...>(), X...>>;
    using R = std::conditional_t<facts_of(Op).gives_boolean, boolean, T>;
    using result = typename node_of<R, typename wide::device, typename wide::axes_type>::type;
    graph::handle const operands[] = {pointwise_operand<T>(Who.chars, static_cast<X&&>(x))...};
    return expression<pointwise_op<Op>, result, typename pointwise_operand_of<T, X>::type...>(
        make_node{}, graph::pointwise(Who.chars, Op, operands, sizeof...(X)));
  }
}

}  // namespace detail
/// Would the elementwise operation Op take values of the types X...? pointwise_ok<opcode::add, X, f32>.
template <opcode Op, class... X> inline constexpr bool pointwise_ok = detail::keeps<detail::pointwise_rule<"pointwise", Op, X...>>;

}  // namespace ricci
