#pragma once

#include <ricci/expr/create.hpp>
#include <ricci/tensor/random.hpp>

/// Random tensors. Counter-based (Philox): element i depends on the key and i alone, so that the
/// numbers are the same on every device and at any thread count.
///   Axes    A...; the extents of dynamic ones by value: random::normal<f32, Batch>(key, Batch{8})
///   Errors  those of zeros
namespace ricci::random {

/// Standard normal.
template <Dtype T, class... A, class... Given> [[nodiscard]] auto normal(key k, Given const&... given) {
  return ricci::detail::create<"random::normal", T, A...>(
      [&](graph::axes_view axes, std::int64_t const* extents) {
        return graph::random_normal(dtype_of<T>, axes, extents, k, 0, 1);
      },
      given...);
}

/// Uniform in [0, 1).
template <Dtype T, class... A, class... Given> [[nodiscard]] auto uniform(key k, Given const&... given) {
  return ricci::detail::create<"random::uniform", T, A...>(
      [&](graph::axes_view axes, std::int64_t const* extents) {
        return graph::random_uniform(dtype_of<T>, axes, extents, k, 0, 1);
      },
      given...);
}

/// Standard normal, within two deviations.
template <Dtype T, class... A, class... Given> [[nodiscard]] auto truncated_normal(key k, Given const&... given) {
  return ricci::detail::create<"random::truncated_normal", T, A...>(
      [&](graph::axes_view axes, std::int64_t const* extents) {
        return graph::random_truncated_normal(dtype_of<T>, axes, extents, k, 0, 1, -2, 2);
      },
      given...);
}

/// True with the probability given.
template <class... A, class... Given>
[[nodiscard]] auto bernoulli(key k, double probability, Given const&... given) {
  return ricci::detail::create<"random::bernoulli", boolean, A...>(
      [&](graph::axes_view axes, std::int64_t const* extents) {
        return graph::random_bernoulli(axes, extents, k, probability);
      },
      given...);
}

/// The positions of an axis in random order, T i32 or i64.
template <Dtype T, class A, class... Given> [[nodiscard]] auto permutation(key k, Given const&... given) {
  static_assert(dtype_of<T> == dtype::i32 || dtype_of<T> == dtype::i64, "permutation: positions are i32 or i64");
  return ricci::detail::create<"random::permutation", T, A>(
      [&](graph::axes_view axes, std::int64_t const* extents) {
        return graph::random_permutation(dtype_of<T>, axes, extents, k);
      },
      given...);
}

}  // namespace ricci::random
