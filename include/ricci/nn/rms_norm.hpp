#pragma once

#include <ricci/expr/norm.hpp>
#include <ricci/nn/linear.hpp>

namespace ricci::nn {

/// Root-mean-square normalization along A with a learned scale (starts at 1).
///   Axes    x: [..., A, ...] -> the same     Errors  x lacks A (compile time)
template <class T, class A, class D = host> struct rms_norm {
  using vector = tensor_on<D, T, A>;
  BOOST_HANA_DEFINE_STRUCT(rms_norm, (vector, weight));
  double epsilon = 1e-6;

  auto operator()(auto&& x) const { return ricci::rms_norm<A>(static_cast<decltype(x)>(x), weight, epsilon); }
  void initialize(random::key) { init::ones(weight); }
};

}  // namespace ricci::nn
