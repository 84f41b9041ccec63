#pragma once

#include <ricci/expr/expression.hpp>

namespace ricci {

template <class To> struct convert_op {};

namespace detail {
template <class To, class X> struct convert_rule {
  static constexpr bool check(message* why) {
    operand_facts const facts[] = {facts_of_operand<X>()};
    if (!operands_fit("to", facts, 1, false, why)) return false;
    if constexpr (Dtype<To> || is_device<To>) {
      return true;
    } else {
      if (why) *why << "to: the type asked for is neither a dtype nor a device";
      return false;
    }
  }
};
}  // namespace detail

/// The only way to change a dtype (`to<bf16>(x)`) or a device (`to<host>(x)`).
///   Axes    those of x
///   Dtype   to floats: rounded to nearest, ties to even; floats to integers: truncated, out of range
///           the nearest bound, NaN 0; integers to integers: modulo 2^bits; to boolean: x != 0
///   Lowers  an instruction of the fused loop      Grad  dy converted back (floats)
///   Errors  not a dtype or a device (compile time)
template <class To, class X> [[nodiscard]] auto to(X&& x) {
  using rule = detail::convert_rule<To, X>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using from = detail::bare<X>;
    if constexpr (detail::is_device<To>) {
      return tensor_type<from>(static_cast<X&&>(x));
    } else {
      using result = typename detail::node_of<To, typename from::device, typename from::axes_type>::type;
      return expression<convert_op<To>, result, detail::operand_type<X>>(
          detail::make_node{}, graph::convert(detail::operand(static_cast<X&&>(x)), dtype_of<To>));
    }
  }
}

/// Would to<To> take a value of the type X?
template <class To, class X> inline constexpr bool to_ok = detail::keeps<detail::convert_rule<To, X>>;

}  // namespace ricci
