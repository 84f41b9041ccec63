#pragma once

#include <ricci/tensor/tensor.hpp>
#include <ricci/tensor/view.hpp>

namespace ricci {

/// An operation that has not run. Its type says which operation on which operands; it owns them.
/// Expressions move and do not copy: what takes a temporary fuses it, what is given a name refuses
/// it, unless the name is const (then it is evaluated once and remembered).
///   Op        what runs, as integers
///   Node      dtype, device and axes of the result
///   Operands  expressions, views and tensors
template <class Op, class Node, class... Operands> class expression : public Node {
 public:
  static constexpr bool is_expression = true;
  static constexpr bool is_view = false;
  using operation = Op;
  using operands = pack<Operands...>;

  explicit expression(detail::make_node, graph::handle handle) : Node(std::move(handle)) {}
  expression(expression&&) = default;
  expression& operator=(expression&&) = default;
  expression(expression const&) = delete;
  expression& operator=(expression const&) = delete;
};

namespace detail {

/// Is X, a deduced forwarding type, the name of an expression that is not const?
template <class X> inline constexpr bool is_name = false;
template <class X> inline constexpr bool is_name<X&> = is_node<X> && bare<X>::is_expression;
template <class X> inline constexpr bool is_name<X const&> = false;

/// An operand's handle: a temporary gives its own, a const name is evaluated first.
template <class X> graph::handle operand(X&& x) {
  if constexpr (bare<X>::is_expression && std::is_lvalue_reference_v<X>) {
    graph::evaluate(x.handle());
    return x.handle();
  } else {
    return static_cast<X&&>(x).handle();
  }
}

template <class X> struct operand_of { using type = bare<X>; };
template <class X>
  requires(X::is_expression)
struct operand_of<X const&> { using type = tensor_type<X>; };
/// The operand's type inside an expression: what a const name evaluated is a tensor there.
template <class X> using operand_type = typename operand_of<X>::type;

/// What the rules of operands look at, as plain data.
struct operand_facts {
  bool is_node;
  bool is_name;
  dtype type;
  char const* device;
};
template <class X> constexpr operand_facts facts_of_operand() {
  if constexpr (is_node<X>)
    return {true, is_name<X>, dtype_of<typename bare<X>::element_type>, bare<X>::device::name};
  else
    return {false, false, dtype::f32, ""};
}

/// The rules that the operands of every operation keep: values, no names of expressions, one dtype
/// (where `one_dtype`), one device.
constexpr bool operands_fit(std::string_view who, operand_facts const* x, int count, bool one_dtype,
                            message* why) {
  for (int i = 0; i < count; ++i) {
    int fault = 0;
    if (!x[i].is_node) fault = 1;
    else if (x[i].is_name) fault = 2;
    else if (one_dtype && x[i].type != x[0].type) fault = 3;
    else if (std::string_view(x[i].device) != x[0].device) fault = 4;
    if (fault == 0) continue;
    if (!why) return false;
    *why << who << ": operand " << i + 1;
    switch (fault) {
      case 1: *why << " is not a tensor"; break;
      case 2:
        *why << " is the name of an unevaluated expression: write `tensor e = ...` (evaluates once) "
                "or `std::move(e)` (fuses here)";
        break;
      case 3:
        *why << " is " << name_of(x[i].type) << ", operand 1 is " << name_of(x[0].type)
             << ": dtypes do not mix, write `to<" << name_of(x[0].type) << ">(...)`";
        break;
      default:
        *why << " is on " << x[i].device << ", operand 1 on " << x[0].device << ": write `to<"
             << x[0].device << ">(...)`";
    }
    return false;
  }
  return true;
}

template <fixed_string Who, bool OneDtype, class... X> struct operands_rule {
  static constexpr bool check(message* why) {
    operand_facts const facts[] = {facts_of_operand<X>()...};
    return operands_fit(Who.view(), facts, sizeof...(X), OneDtype, why);
  }
};

}  // namespace detail

/// Evaluates an expression inside a larger one; a tensor is returned as it is.
///   Axes    those of e       Value   that of e
///   Memory  a new packed tensor, but for a tensor itself
template <class E> auto eval(E&& e) {
  if constexpr (detail::is_poisoned<E>)
    return poisoned{};
  else
    return tensor_type<detail::bare<E>>(static_cast<E&&>(e));
}

}  // namespace ricci
