#pragma once

#include <ricci/tensor/tensor.hpp>
#include <ricci/tensor/view.hpp>

#define RICCI_COPY_REFUSED \
  "expression: it moves and does not copy: write `tensor e = ...` (evaluates once) or `std::move(e)` (fuses)"
#if defined(__clang__) && __clang_major__ >= 19 && !defined(__CUDACC__)
#define RICCI_DELETES_WITH_REASON
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
#endif

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
#ifdef RICCI_DELETES_WITH_REASON
  expression(expression const&) = delete(RICCI_COPY_REFUSED);
#else
  // Still the copy constructor; g++ prints its parameters, and so the reason.
  expression(expression const&, detail::rejected<detail::sentence(RICCI_COPY_REFUSED)> const* = nullptr) = delete;
#endif
  expression& operator=(expression const&) = delete;
};

#ifdef RICCI_DELETES_WITH_REASON
#pragma clang diagnostic pop
#undef RICCI_DELETES_WITH_REASON
#endif
#undef RICCI_COPY_REFUSED

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

constexpr void write_is_name(message& m, std::string_view who, int i) {
  m << who << ": operand " << i + 1
    << " is the name of an unevaluated expression: write `tensor e = ...` (evaluates once) or `std::move(e)` (fuses "
       "here)";
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
    if (fault == 2) {
      write_is_name(*why, who, i);
      return false;
    }
    *why << who << ": operand " << i + 1;
    switch (fault) {
      case 1: *why << " is not a tensor"; break;
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

/// Anything that has a value, a name too.
template <fixed_string Who, class E> struct value_rule {
  static constexpr bool check(message* why) {
    if (is_node<E>) return true;
    if (why) *why << Who.view() << ": operand 1 is not a tensor";
    return false;
  }
};

/// An operation on floating numbers only.
constexpr bool takes_floats(std::string_view who, dtype type, message* why) {
  if (is_floating(type)) return true;
  if (why) *why << who << ": operand 1 is " << name_of(type) << ", it takes floating numbers: write `to<f32>(...)`";
  return false;
}

/// Asks a rule, whose types are the operands, then the axes, in the order of a call: axes first.
template <template <class...> class Rule, class Axes, class Operands> struct asked;
template <template <class...> class Rule, class... A, class... X> struct asked<Rule, pack<A...>, pack<X...>> {
  static constexpr bool value = keeps<Rule<X..., A...>>;
};
template <template <class...> class Rule, class... T> inline constexpr bool asks =
    asked<Rule, typename split_axes<pack<>, T...>::axes, typename split_axes<pack<>, T...>::rest>::value;

}  // namespace detail

/// Evaluates an expression inside a larger one; a tensor is returned as it is.
///   Axes    those of e       Value   that of e
///   Memory  a new packed tensor, but for a tensor itself
template <class E> auto eval(E&& e) {
  using rule = detail::value_rule<"eval", E>;
  if constexpr (detail::is_poisoned<E>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    return tensor_type<detail::bare<E>>(static_cast<E&&>(e));
  }
}

}  // namespace ricci
