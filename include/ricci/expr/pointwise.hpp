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
    for (int j = 0; !found && j < wide.rank; ++j) found = wide.axes[j] == narrow.axes[i];
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
  for (int i = 0; i < axes[a].rank; ++i)
    for (int j = 0; j < axes[b].rank; ++j) {
      axis_info const* const p = axes[a].axes[i];
      axis_info const* const q = axes[b].axes[j];
      if (p == q || p->view() != q->view()) continue;
      m << who << ": ";
      if (p->extent >= 0 && q->extent >= 0 && p->extent != q->extent) {
        m << "axis ";
        m.quote(p->view()) << " has extent " << p->extent << " in operand " << a + 1 << " and "
                           << q->extent << " in operand " << b + 1;
      } else {
        m << "two axis types are named ";
        m.quote(p->view()) << " (in operand " << a + 1 << " and operand " << b + 1
                           << "): one name is one type";
      }
      return;
    }
  m << who << ": operand " << a + 1 << " has axes [";
  write_axes(m, axes[a].axes, axes[a].rank);
  m << "], operand " << b + 1 << " has [";
  write_axes(m, axes[b].axes, axes[b].rank);
  m << "]: neither has all axes of the other (write `broadcast` or `outer`)";
  for (int j = 0; j < axes[b].rank; ++j) {
    if (contains(axes[a], {axes[b].axes + j, 1})) continue;
    int const before = m.size;
    suggest(m, axes[b].axes[j]->view(), axes[a].axes, axes[a].rank);
    if (m.size != before) return;
  }
}

/// The rules of elementwise operations, over plain facts.
constexpr bool pointwise_fits(std::string_view who, opcode op, pointwise_facts const* x, int count,
                              message* why) {
  bool const masked = op == opcode::where;
  int first = -1;
  for (int i = 0; i < count; ++i) {
    if (x[i].is_number) continue;
    if (!x[i].operand.is_node || x[i].operand.is_name) {
      if (!why) return false;
      if (x[i].operand.is_node) {
        operand_facts facts[4]{};
        for (int j = 0; j < count; ++j) facts[j] = {true, false, dtype::f32, ""};
        facts[i].is_name = true;
        operands_fit(who, facts, count, false, why);
      } else {
        *why << who << ": operand " << i + 1 << " is neither a tensor nor a number";
      }
      return false;
    }
    if (masked && i == 0) {
      if (x[0].operand.type == dtype::boolean) continue;
      if (why)
        *why << who << ": operand 1 is " << name_of(x[0].operand.type)
             << ", a mask is boolean (a comparison gives one)";
      return false;
    }
    if (first < 0) first = i;
    if (x[i].operand.type != x[first].operand.type) {
      if (why)
        *why << who << ": operand " << first + 1 << " is " << name_of(x[first].operand.type)
             << ", operand " << i + 1 << " is " << name_of(x[i].operand.type)
             << ": dtypes do not mix, write `to<" << name_of(x[first].operand.type) << ">(...)`";
      return false;
    }
  }
  for (int i = 1; i < count; ++i) {
    if (x[i].is_number || x[0].is_number) continue;
    if (std::string_view(x[i].operand.device) == x[0].operand.device) continue;
    if (why)
      *why << who << ": operand 1 is on " << x[0].operand.device << ", operand " << i + 1 << " on "
           << x[i].operand.device << ": write `to<" << x[0].operand.device << ">(...)`";
    return false;
  }
  if (first < 0) {
    if (why) *why << who << ": the values are numbers, at least one is a tensor";
    return false;
  }
  dtype const type = x[first].operand.type;
  opcode_facts const& facts = facts_of(op);
  bool const defined = is_floating(type) ? facts.on_floats
                       : type == dtype::boolean ? facts.on_boolean
                                                : facts.on_integers;
  if (!defined) {
    if (why) {
      *why << who << ": not defined on " << name_of(type);
      if (op == opcode::logical_and || op == opcode::logical_or || op == opcode::logical_not)
        *why << ", it takes boolean (a comparison gives one)";
      else
        *why << ", write `to<f32>(...)`";
    }
    return false;
  }
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
}  // namespace ricci
