#pragma once

#include <ricci/expr/functions.hpp>
#include <ricci/expr/joins.hpp>
#include <ricci/expr/operators.hpp>
#include <ricci/expr/reductions.hpp>
#include <ricci/expr/softmax.hpp>

namespace ricci {

struct cross_entropy_op {};

namespace detail {

template <class A, class X, class T> struct cross_entropy_rule {
  static constexpr bool check(message* why) {
    if (!along_rule<"cross_entropy", X, A>::check(why)) return false;
    operand_facts const facts[] = {facts_of_operand<X>(), facts_of_operand<T>()};
    if (!operands_fit("cross_entropy", facts, 2, false, why)) return false;
    if constexpr (is_node<X> && is_node<T> && is_axis<A>) {
      constexpr dtype type = dtype_of<typename bare<T>::element_type>;
      if (!is_integer(type)) {
        if (why) *why << "cross_entropy: the targets are " << name_of(type) << ", they are integers: positions along `"
                      << A::name.view() << "`";
        return false;
      }
      constexpr axes_list targets = axes_of_value<T>();
      axis_info const* const class_axis = &axis_info_of<A>;
      constexpr places rest = places_without(axes_of_value<X>(), {axis_list<A>, 1});
      bool fits = targets.rank == rest.count && find_axis(targets, class_axis) < 0;
      for (int i = 0; fits && i < rest.count; ++i) fits = find_axis(targets, bare<X>::axes[rest.at[i]]) >= 0;
      if (fits) return true;
      if (why) {
        *why << "cross_entropy: the logits have axes [";
        write_axes(*why, bare<X>::axes, bare<X>::rank);
        *why << "], the targets have [";
        write_axes(*why, targets.axes, targets.rank);
        *why << "]: the targets have those of the logits without `" << A::name.view() << "` (losses do not broadcast)";
      }
      return false;
    }
    return true;
  }
};

template <class X, class Y> struct loss_axes_rule {
  static constexpr bool check(message* why) {
    operand_facts const facts[] = {facts_of_operand<X>(), facts_of_operand<Y>()};
    if (!operands_fit("mse", facts, 2, true, why)) return false;
    if constexpr (is_node<X> && is_node<Y>) {
      if (!is_floating(dtype_of<typename bare<X>::element_type>)) {
        if (why) *why << "mse: not defined on " << name_of(dtype_of<typename bare<X>::element_type>) << ", write `to<f32>(...)`";
        return false;
      }
      constexpr axes_list a = axes_of_value<X>();
      constexpr axes_list b = axes_of_value<Y>();
      if (a.rank == b.rank && contains(a, b)) return true;
      if (why) {
        *why << "mse: operand 1 has axes [";
        write_axes(*why, a.axes, a.rank);
        *why << "], operand 2 has [";
        write_axes(*why, b.axes, b.rank);
        *why << "]: losses do not broadcast, their operands have the same axes";
      }
      return false;
    }
    return true;
  }
};

}  // namespace detail

/// The negative log-probability of each target class.
///   Axes    logits: [..., A, ...], targets: the same without A, any order -> [...], the logits' order
///   Value   logsumexp over A of the logits - the logit of the target
///   Dtype   logits floats; f16, bf16 compute in f32; targets integers     Units  nats
///   Lowers  one pass, its logsumexp kept for the gradient (kernels/cross_entropy)
///   Grad    dlogits = (softmax - one at the target) dy
///   Errors  axes or dtypes (compile time); a target outside A: index_error
template <class A, class X, class T>
  requires detail::SomeNode<X, T>
[[nodiscard]] auto cross_entropy_each(X&& logits, T&& targets) {
  using rule = detail::cross_entropy_rule<A, X, T>;
  if constexpr (detail::is_poisoned<X> || detail::is_poisoned<T>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using result = detail::node_like<X, detail::replace<typename detail::bare<X>::axes_type, A>>;
    graph::handle const x = detail::operand(static_cast<X&&>(logits));
    graph::handle const t = detail::aligned<result>(static_cast<T&&>(targets));
    return expression<cross_entropy_op, result, detail::operand_type<X>, detail::operand_type<T>>(
        detail::make_node{},
        graph::cross_entropy(x, t, {result::axes, result::rank}, detail::place_of_axis<X, A>()));
  }
}

/// The mean of cross_entropy_each over all places: a rank-0 loss.
template <class A, class X, class T>
  requires detail::SomeNode<X, T>
[[nodiscard]] auto cross_entropy(X&& logits, T&& targets) {
  return mean(cross_entropy_each<A>(static_cast<X&&>(logits), static_cast<T&&>(targets)));
}

/// The mean squared difference: a rank-0 loss.
///   Axes    both the same (losses do not broadcast), in any order
///   Errors  other axes, other dtypes, integers (compile time)
template <class X, class Y>
  requires detail::SomeNode<X, Y>
[[nodiscard]] auto mse(X&& x, Y&& y) {
  using rule = detail::loss_axes_rule<X, Y>;
  if constexpr (detail::is_poisoned<X> || detail::is_poisoned<Y>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    return mean(square(detail::pointwise<"mse", opcode::subtract>(static_cast<X&&>(x), static_cast<Y&&>(y))));
  }
}

}  // namespace ricci
