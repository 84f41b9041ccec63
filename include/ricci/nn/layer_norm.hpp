#pragma once

#include <ricci/expr/norm.hpp>
#include <ricci/nn/linear.hpp>

namespace ricci::nn {

/// Layer normalization along A with a learned scale (starts at 1) and bias (starts at 0).
///   Axes    x: [..., A, ...] -> the same     Errors  x lacks A (compile time)
template <class T, class A, class D = host> struct layer_norm {
  using vector = tensor_on<D, T, A>;
  BOOST_HANA_DEFINE_STRUCT(layer_norm, (vector, weight), (vector, bias));
  double epsilon = 1e-5;

  auto operator()(auto&& x) const {
    return ricci::layer_norm<A>(static_cast<decltype(x)>(x), weight, bias, epsilon);
  }
  void initialize(random::key) {
    init::ones(weight);
    init::zeros(bias);
  }
};

}  // namespace ricci::nn
