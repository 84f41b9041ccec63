#pragma once

#include <ricci/expr/views.hpp>

/// Operations along one axis that keep all axes.
namespace ricci {

/// Along which axis of the operand.
template <int Axis> struct softmax_op {};
template <int Axis> struct log_softmax_op {};
template <int Axis> struct cumsum_op {};

namespace detail {

template <fixed_string Who, class X, class... A> struct along_rule {
  static constexpr bool check(message* why) {
    if (!one_axis_rule<Who, X, A...>::check(why)) return false;
    if constexpr (is_node<X>) return takes_floats(Who.view(), dtype_of<typename bare<X>::element_type>, why);
    return true;
  }
};

template <fixed_string Who, template <int> class Op, class... A, class X, class Make>
auto along(X&& x, Make make) {
  using rule = along_rule<Who, X, A...>;
  if constexpr (is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!keeps<rule>) {
    refuse_by<rule>();
    return poisoned{};
  } else {
    using result = node_like<X, typename bare<X>::axes_type>;
    constexpr int axis = place_of_axis<X, pack_element<0, A...>>();
    return expression<Op<axis>, result, operand_type<X>>(
        make_node{}, make(operand(static_cast<X&&>(x)), axis));
  }
}

}  // namespace detail

/// exp(x) / sum(exp(x)) over an axis.
///   Axes    those of x     Dtype  floats; f16, bf16 compute in f32
///   Value   a row that is -inf throughout gives zeros, with gradient 0
///   Lowers  one pass (kernels/softmax)     Grad  y (dy - sum(y dy))
///   Errors  axis not in x, not a floating dtype (compile time)
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto softmax(X&& x) {
  return detail::along<"softmax", softmax_op, A...>(
      static_cast<X&&>(x), [](graph::handle const& h, int axis) { return graph::softmax(h, axis); });
}

/// x - logsumexp(x) over an axis; otherwise as softmax.
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto log_softmax(X&& x) {
  return detail::along<"log_softmax", log_softmax_op, A...>(
      static_cast<X&&>(x), [](graph::handle const& h, int axis) { return graph::log_softmax(h, axis); });
}

/// Sums of the elements up to each position of an axis, that one included.
///   Dtype   integers: i64     Grad  the sum from each position on
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto cumsum(X&& x) {
  using rule = detail::one_axis_rule<"cumsum", X, A...>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using T = sum_result_t<typename detail::bare<X>::element_type>;
    using result = detail::node_like<X, typename detail::bare<X>::axes_type, T>;
    constexpr int axis = detail::place_of_axis<X, detail::pack_element<0, A...>>();
    return expression<cumsum_op<axis>, result, detail::operand_type<X>>(
        detail::make_node{},
        graph::cumsum(detail::operand(static_cast<X&&>(x)), axis, dtype_of<T>));
  }
}

/// Would softmax<A>, log_softmax<A> or cumsum<A> take a value of the type X?
template <class A, class X> inline constexpr bool softmax_ok = detail::keeps<detail::along_rule<"softmax", X, A>>;
template <class A, class X> inline constexpr bool cumsum_ok = detail::keeps<detail::one_axis_rule<"cumsum", X, A>>;

}  // namespace ricci
