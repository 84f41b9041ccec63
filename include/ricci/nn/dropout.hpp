#pragma once

#include <ricci/expr/convert.hpp>
#include <ricci/expr/functions.hpp>
#include <ricci/expr/operators.hpp>
#include <ricci/expr/random.hpp>

namespace ricci::nn {
namespace detail {

/// Throws value_error for a rate outside [0, 1).
void check_dropout_rate(double rate);

template <class X> struct dropout_rule {
  static constexpr bool check(message* why) {
    ricci::detail::operand_facts const facts[] = {ricci::detail::facts_of_operand<X>()};
    if (!ricci::detail::operands_fit("dropout", facts, 1, false, why)) return false;
    if (is_floating(facts[0].type)) return true;
    if (why)
      *why << "dropout: not defined on " << name_of(facts[0].type) << ", write `to<f32>(...)`";
    return false;
  }
};

}  // namespace detail

/// Zeroes elements with the probability `rate` and scales the others by 1 / (1 - rate).
///   Axes    those of x     Value   which ones: a function of the key alone
///   Dtype   floats; the scale is applied in f32 at least
///   Errors  not floating (compile time); a rate outside [0, 1): value_error
template <class X>
  requires ricci::detail::SomeNode<X>
[[nodiscard]] auto dropout(X&& x, double rate, random::key k) {
  if constexpr (ricci::detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!ricci::detail::keeps<detail::dropout_rule<X>>) {
    ricci::detail::refuse_by<detail::dropout_rule<X>>();
    return poisoned{};
  } else {
    using bare = ricci::detail::bare<X>;
    using mask = typename ricci::detail::node_of<boolean, typename bare::device,
                                                 typename bare::axes_type>::type;
    detail::check_dropout_rate(rate);
    tensor_type<mask> const kept(
        ricci::detail::make_node{},
        graph::random_bernoulli({bare::axes, bare::rank}, graph::extents(x.handle()), k, 1 - rate));
    using T = typename bare::element_type;
    double const scale = 1 / (1 - rate);
    // The scale is rounded to f32 at most: as a bf16 it would be off by 0.2 %.
    if constexpr (sizeof(T) < sizeof(f32))
      return to<T>(where(kept, to<f32>(static_cast<X&&>(x)) * scale, 0.0));
    else
      return where(kept, static_cast<X&&>(x) * scale, 0.0);
  }
}

}  // namespace ricci::nn
