#pragma once

#include <ricci/expr/softmax.hpp>

namespace ricci {

/// Along which axis of the operand.
template <int Axis> struct layer_norm_op {};
template <int Axis> struct rms_norm_op {};

namespace detail {

/// A norm's parameter is a vector along the axis, of the operand's dtype.
template <fixed_string Who, class A, class X, class... P> struct norm_rule {
  static constexpr bool check(message* why) {
    if (!along_rule<Who, X, A>::check(why)) return false;
    operand_facts const facts[] = {facts_of_operand<X>(), facts_of_operand<P>()...};
    if (!operands_fit(Who.view(), facts, 1 + sizeof...(P), true, why)) return false;
    if constexpr ((is_node<P> && ...)) {
      axes_list const lists[] = {axes_of_value<P>()..., {}};
      for (int i = 0; i < static_cast<int>(sizeof...(P)); ++i) {
        if (lists[i].rank == 1 && is_same_axis(lists[i].axes[0], &axis_info_of<A>)) continue;
        if (why) {
          if (write_name_clash(*why, Who.view(), axes_of_value<X>(), operand_place(0), lists[i],
                               operand_place(i + 1)))
            return false;
          *why << Who.view() << ": operand " << i + 2 << " has axes [";
          write_axes(*why, lists[i].axes, lists[i].rank);
          *why << "], it has the normalized axis `" << A::name.view() << "` alone";
        }
        return false;
      }
    }
    return true;
  }
};

/// A parameter's handle; below, none would mean that there is no such parameter.
template <class P> graph::handle norm_parameter(P&& p) {
  graph::handle h = operand(static_cast<P&&>(p));
  (void)graph::dtype_of(h);  // throws where it is empty
  return h;
}

}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon) along A, then scaled and shifted.
///   Axes    x: [..., A, ...] -> the same; scale, bias: [A]
///   Dtype   floats; f16, bf16 compute in f32     Lowers  one pass (kernels/layer_norm)
///   Grad    dx, dscale, dbias in one pass over the rows, in a fixed order
///   Errors  axis not in x, dtypes differ (compile time); extents differ: shape_error; an empty
///           parameter: value_error
///   Source  Ba, Kiros and Hinton, 2016
template <class A, class X, class S, class B>
  requires detail::SomeNode<X>
[[nodiscard]] auto layer_norm(X&& x, S&& scale, B&& bias, double epsilon = 1e-5) {
  using rule = detail::norm_rule<"layer_norm", A, X, S, B>;
  if constexpr (detail::is_poisoned<X> || detail::is_poisoned<S> || detail::is_poisoned<B>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using result = detail::node_like<X, typename detail::bare<X>::axes_type>;
    graph::handle const h = detail::operand(static_cast<X&&>(x));
    constexpr int axis = detail::place_of_axis<X, A>();
    return expression<layer_norm_op<axis>, result, detail::operand_type<X>, detail::operand_type<S>,
                      detail::operand_type<B>>(
        detail::make_node{},
        graph::layer_norm(h, detail::norm_parameter(static_cast<S&&>(scale)),
                          detail::norm_parameter(static_cast<B&&>(bias)), axis, epsilon));
  }
}

/// x / sqrt(mean of squares + epsilon) along A, then scaled; otherwise as layer_norm.
///   Source  Zhang and Sennrich, 2019
template <class A, class X, class S>
  requires detail::SomeNode<X>
[[nodiscard]] auto rms_norm(X&& x, S&& scale, double epsilon = 1e-6) {
  using rule = detail::norm_rule<"rms_norm", A, X, S>;
  if constexpr (detail::is_poisoned<X> || detail::is_poisoned<S>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using result = detail::node_like<X, typename detail::bare<X>::axes_type>;
    graph::handle const h = detail::operand(static_cast<X&&>(x));
    constexpr int axis = detail::place_of_axis<X, A>();
    return expression<rms_norm_op<axis>, result, detail::operand_type<X>, detail::operand_type<S>>(
        detail::make_node{},
        graph::rms_norm(h, detail::norm_parameter(static_cast<S&&>(scale)), axis, epsilon));
  }
}

/// Would layer_norm<A> and rms_norm<A> take values of the types X, S and B?
template <class A, class X, class S, class B> inline constexpr bool layer_norm_ok =
    detail::keeps<detail::norm_rule<"layer_norm", A, X, S, B>>;
template <class A, class X, class S> inline constexpr bool rms_norm_ok =
    detail::keeps<detail::norm_rule<"rms_norm", A, X, S>>;

}  // namespace ricci
