#pragma once

#include <ricci/expr/functions.hpp>
#include <ricci/expr/joins.hpp>
#include <ricci/expr/operators.hpp>
#include <ricci/expr/reductions.hpp>
#include <ricci/expr/softmax.hpp>

namespace ricci {

/// Along which axis of the logits.
template <int Axis> struct cross_entropy_op {};

namespace detail {

template <class X, class T, class... A> struct cross_entropy_rule {
  static constexpr bool check(message* why) {
    if (!along_rule<"cross_entropy", X, A...>::check(why)) return false;
    operand_facts const facts[] = {facts_of_operand<X>(), facts_of_operand<T>()};
    if (!operands_fit("cross_entropy", facts, 2, false, why)) return false;
    if constexpr (is_node<X> && is_node<T> && sizeof...(A) == 1 && (is_axis<A> && ...))
      return targets_fit(axes_of_value<X>(), axes_of_value<T>(), {axis_list<A...>, 1},
                         dtype_of<typename bare<T>::element_type>, why);
    return true;
  }
  /// The targets are integers with the axes of the logits but the classes.
  static constexpr bool targets_fit(axes_list const& logits, axes_list const& targets, axes_list const& classes,
                                    dtype type, message* why) {
    std::string_view const name = classes.axes[0]->view();
    if (!is_integer(type)) {
      if (why) {
        *why << "cross_entropy: operand 2 is " << name_of(type) << ", targets are integers: positions along ";
        why->quote(name);
      }
      return false;
    }
    places const rest = places_without(logits, classes);
    bool fits = targets.rank == rest.count && !same_axis_among(targets, classes.axes[0]);
    for (int i = 0; fits && i < rest.count; ++i) fits = same_axis_among(targets, logits.axes[rest.at[i]]);
    if (fits || !why) return fits;
    if (write_name_clash(*why, "cross_entropy", logits, operand_place(0), targets, operand_place(1))) return false;
    *why << "cross_entropy: operand 1 has axes [";
    write_axes(*why, logits);
    *why << "], operand 2 has [";
    write_axes(*why, targets);
    *why << "]: the targets have those of the logits without ";
    why->quote(name) << " (losses do not broadcast)";
    return false;
  }
};

template <class X, class Y> struct mse_rule {
  static constexpr bool check(message* why) {
    operand_facts const facts[] = {facts_of_operand<X>(), facts_of_operand<Y>()};
    if (!operands_fit("mse", facts, 2, true, why)) return false;
    if constexpr (is_node<X> && is_node<Y>) {
      if (!takes_floats("mse", dtype_of<typename bare<X>::element_type>, why)) return false;
      constexpr axes_list a = axes_of_value<X>();
      constexpr axes_list b = axes_of_value<Y>();
      if (a.rank == b.rank && contains(a, b)) return true;
      if (!why || write_name_clash(*why, "mse", a, operand_place(0), b, operand_place(1))) return false;
      *why << "mse: operand 1 has axes [";
      write_axes(*why, a);
      *why << "], operand 2 has [";
      write_axes(*why, b);
      *why << "]: losses do not broadcast, their operands have the same axes";
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
template <class... A, class X, class T>
  requires detail::SomeNode<X, T>
[[nodiscard]] auto cross_entropy_each(X&& logits, T&& targets) {
  using rule = detail::cross_entropy_rule<X, T, A...>;
  if constexpr (detail::is_poisoned<X> || detail::is_poisoned<T>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using named = detail::pack_element<0, A...>;
    using result = detail::node_like<X, detail::replace<typename detail::bare<X>::axes_type, named>>;
    graph::handle const x = detail::operand(static_cast<X&&>(logits));
    graph::handle const t = detail::aligned<result>(static_cast<T&&>(targets));
    constexpr int axis = detail::place_of_axis<X, named>();
    return expression<cross_entropy_op<axis>, result, detail::operand_type<X>, detail::operand_type<T>>(
        detail::make_node{},
        graph::cross_entropy(x, t, {result::axes, result::rank}, axis));
  }
}

/// The mean of cross_entropy_each over all places: a rank-0 loss.
template <class... A, class X, class T>
  requires detail::SomeNode<X, T>
[[nodiscard]] auto cross_entropy(X&& logits, T&& targets) {
  return mean(cross_entropy_each<A...>(static_cast<X&&>(logits), static_cast<T&&>(targets)));
}

/// The mean squared difference: a rank-0 loss.
///   Axes    both the same (losses do not broadcast), in any order
///   Errors  other axes, other dtypes, integers (compile time)
template <class X, class Y>
  requires detail::SomeNode<X, Y>
[[nodiscard]] auto mse(X&& x, Y&& y) {
  using rule = detail::mse_rule<X, Y>;
  if constexpr (detail::is_poisoned<X> || detail::is_poisoned<Y>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    return mean(square(detail::pointwise<"mse", opcode::subtract>(static_cast<X&&>(x), static_cast<Y&&>(y))));
  }
}

/// Would cross_entropy<A> take logits and targets of these types?
template <class A, class X, class T>
inline constexpr bool cross_entropy_ok = detail::keeps<detail::cross_entropy_rule<X, T, A>>;
/// Would mse take values of the types X and Y?
template <class X, class Y> inline constexpr bool mse_ok = detail::keeps<detail::mse_rule<X, Y>>;

}  // namespace ricci
