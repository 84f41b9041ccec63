#pragma once

#include <ricci/error/exceptions.hpp>
#include <ricci/expr/convert.hpp>
#include <ricci/expr/functions.hpp>
#include <ricci/expr/operators.hpp>
#include <ricci/expr/random.hpp>

namespace ricci::nn {

/// Zeroes elements with the probability `rate` and scales the others by 1 / (1 - rate).
///   Axes    those of x     Value   which ones: a function of the key alone
///   Errors  a rate outside [0, 1): value_error
template <class X>
  requires ricci::detail::SomeNode<X>
[[nodiscard]] auto dropout(X&& x, double rate, random::key k) {
  if constexpr (ricci::detail::is_poisoned<X>) {
    return poisoned{};
  } else {
    using bare = ricci::detail::bare<X>;
    using mask = typename ricci::detail::node_of<boolean, typename bare::device, typename bare::axes_type>::type;
    if (!(rate >= 0 && rate < 1)) throw value_error("dropout: the rate is not in [0, 1)");
    tensor_type<mask> const kept(ricci::detail::make_node{},
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
