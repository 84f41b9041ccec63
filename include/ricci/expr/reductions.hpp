#pragma once

#include <ricci/expr/reduce.hpp>

/// Reductions on axes alone: `sum<Seq>(x)`.
///   Axes    x: [A..., R...] -> those not named, order kept; no axis named: all are reduced
///   Dtype   as in reduce.hpp: f16, bf16, f8 accumulate in f32, integers sum to i64, positions i64
///   Memory  new tensor; x may be any view      Cost  reads x once
///   Lowers  one pass (kernels/reduce)
///   Errors  axis not in x, axis twice, not defined on the dtype (compile time)
namespace ricci {

/// The sum over the axes A (all axes where none are named).
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto sum(X&& x) {
  return detail::short_reduce<"sum", op::sum, A...>(static_cast<X&&>(x));
}

/// The mean; of nothing NaN.
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto mean(X&& x) {
  return detail::short_reduce<"mean", op::mean, A...>(static_cast<X&&>(x));
}

/// The largest; NaN where there is one. Of nothing: shape_error.
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto max(X&& x) {
  return detail::short_reduce<"max", op::max, A...>(static_cast<X&&>(x));
}

/// The smallest; NaN where there is one. Of nothing: shape_error.
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto min(X&& x) {
  return detail::short_reduce<"min", op::min, A...>(static_cast<X&&>(x));
}

/// The product.
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto prod(X&& x) {
  return detail::short_reduce<"prod", op::prod, A...>(static_cast<X&&>(x));
}

/// Is any true?
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto any(X&& x) {
  return detail::short_reduce<"any", op::any, A...>(static_cast<X&&>(x));
}

/// Are all true?
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto all(X&& x) {
  return detail::short_reduce<"all", op::all, A...>(static_cast<X&&>(x));
}

/// log(sum(exp(x))), without overflow; of a row of -inf: -inf, with gradient 0.
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto logsumexp(X&& x) {
  return detail::short_reduce<"logsumexp", op::logsumexp, A...>(static_cast<X&&>(x));
}

/// The position of the largest, the first of ties; over several axes the row-major position.
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto argmax(X&& x) {
  return detail::short_reduce<"argmax", op::argmax, A...>(static_cast<X&&>(x));
}

/// The position of the smallest, the first of ties.
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto argmin(X&& x) {
  return detail::short_reduce<"argmin", op::argmin, A...>(static_cast<X&&>(x));
}

}  // namespace ricci
