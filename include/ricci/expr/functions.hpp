#pragma once

#include <ricci/expr/pointwise.hpp>

/// Elementwise functions.
///   Axes    those of x (several operands: as with the operators)     Dtype  that of x
///   Lowers  one instruction of the statement's fused loop, or an epilogue of its GEMM
///   Grad    the derivative at x; at a kink 0, as in PyTorch (minimum and maximum: half each at ties)
///   Errors  not defined on the dtype, the rules of the operators (compile time)
namespace ricci {

/// e^x.
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto exp(X&& x) {
  return detail::pointwise<"exp", opcode::exp>(static_cast<X&&>(x));
}

/// The natural logarithm.
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto log(X&& x) {
  return detail::pointwise<"log", opcode::log>(static_cast<X&&>(x));
}

/// The square root.
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto sqrt(X&& x) {
  return detail::pointwise<"sqrt", opcode::sqrt>(static_cast<X&&>(x));
}

/// 1 / sqrt(x).
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto rsqrt(X&& x) {
  return detail::pointwise<"rsqrt", opcode::rsqrt>(static_cast<X&&>(x));
}

/// The sine of x in radians.
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto sin(X&& x) {
  return detail::pointwise<"sin", opcode::sin>(static_cast<X&&>(x));
}

/// The cosine of x in radians.
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto cos(X&& x) {
  return detail::pointwise<"cos", opcode::cos>(static_cast<X&&>(x));
}

/// The hyperbolic tangent.
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto tanh(X&& x) {
  return detail::pointwise<"tanh", opcode::tanh>(static_cast<X&&>(x));
}

/// 1 / (1 + e^-x).
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto sigmoid(X&& x) {
  return detail::pointwise<"sigmoid", opcode::sigmoid>(static_cast<X&&>(x));
}

/// The error function.
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto erf(X&& x) {
  return detail::pointwise<"erf", opcode::erf>(static_cast<X&&>(x));
}

/// max(x, 0).
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto relu(X&& x) {
  return detail::pointwise<"relu", opcode::relu>(static_cast<X&&>(x));
}

/// x sigmoid(x).
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto silu(X&& x) {
  return detail::pointwise<"silu", opcode::silu>(static_cast<X&&>(x));
}

/// x Phi(x), Phi the normal distribution function (the exact form).
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto gelu(X&& x) {
  return detail::pointwise<"gelu", opcode::gelu_erf>(static_cast<X&&>(x));
}

/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, the usual approximation of gelu.
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto gelu_tanh(X&& x) {
  return detail::pointwise<"gelu_tanh", opcode::gelu_tanh>(static_cast<X&&>(x));
}

/// |x|.
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto abs(X&& x) {
  return detail::pointwise<"abs", opcode::absolute>(static_cast<X&&>(x));
}

/// -1, 0 or 1.
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto sign(X&& x) {
  return detail::pointwise<"sign", opcode::sign>(static_cast<X&&>(x));
}

/// x x.
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto square(X&& x) {
  return detail::pointwise<"square", opcode::square>(static_cast<X&&>(x));
}

/// 1 / x.
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto reciprocal(X&& x) {
  return detail::pointwise<"reciprocal", opcode::reciprocal>(static_cast<X&&>(x));
}

/// x to the power y.
template <class X, class Y>
  requires detail::SomeNode<X, Y>
[[nodiscard]] auto pow(X&& x, Y&& y) {
  return detail::pointwise<"pow", opcode::power>(static_cast<X&&>(x), static_cast<Y&&>(y));
}

/// The smaller; NaN where either is.
template <class X, class Y>
  requires detail::SomeNode<X, Y>
[[nodiscard]] auto minimum(X&& a, Y&& b) {
  return detail::pointwise<"minimum", opcode::minimum>(static_cast<X&&>(a), static_cast<Y&&>(b));
}

/// The larger; NaN where either is.
template <class X, class Y>
  requires detail::SomeNode<X, Y>
[[nodiscard]] auto maximum(X&& a, Y&& b) {
  return detail::pointwise<"maximum", opcode::maximum>(static_cast<X&&>(a), static_cast<Y&&>(b));
}

/// min(max(x, low), high).
template <class X, class L, class H>
  requires detail::SomeNode<X, L, H>
[[nodiscard]] auto clamp(X&& x, L&& low, H&& high) {
  return detail::pointwise<"clamp", opcode::clamp>(static_cast<X&&>(x), static_cast<L&&>(low),
                                                   static_cast<H&&>(high));
}

/// As above; beside `using namespace std` the better match than std::clamp, which orders whole values.
template <class X>
  requires detail::is_node<X>
[[nodiscard]] auto clamp(X const& x, X const& low, X const& high) {
  return detail::pointwise<"clamp", opcode::clamp>(x, low, high);
}

/// a where the mask is true, else b.
template <class M, class A, class B>
  requires detail::SomeNode<M, A, B>
[[nodiscard]] auto where(M&& mask, A&& a, B&& b) {
  return detail::pointwise<"where", opcode::where>(static_cast<M&&>(mask), static_cast<A&&>(a),
                                                   static_cast<B&&>(b));
}

}  // namespace ricci
