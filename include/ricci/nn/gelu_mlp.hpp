#pragma once

#include <ricci/expr/functions.hpp>
#include <ricci/nn/linear.hpp>

namespace ricci::nn {

/// down(gelu(up(x))), the feed-forward block of GPT-2 (gelu in its tanh form).
///   Axes    x: [..., Width, ...] -> the same; the inner axis is Inner
template <class T, class Width, class Inner, class D = host> struct gelu_mlp {
  using up_type = linear<T, Width, Inner, D>;
  using down_type = linear<T, Inner, Width, D>;
  BOOST_HANA_DEFINE_STRUCT(gelu_mlp, (up_type, up), (down_type, down));

  auto operator()(auto&& x) const { return down(gelu_tanh(up(static_cast<decltype(x)>(x)))); }
};

}  // namespace ricci::nn
