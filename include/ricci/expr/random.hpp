#pragma once

#include <ricci/expr/create.hpp>
#include <ricci/tensor/random.hpp>

/// Random tensors. Counter-based (Philox): element i depends on the key and i alone, so that the
/// numbers are the same on every device and at any thread count.
///   Axes    A...; the extents of dynamic ones by value: random::normal<f32, Batch>(key, Batch{8})
///   Dtype   floating numbers
///   Errors  those of zeros; the key is not a key (compile time)
namespace ricci::random {
namespace detail {
namespace base = ricci::detail;

template <fixed_string Who> struct key_rule {
  static constexpr bool check(message* why) {
    if (why) *why << Who.view() << ": the first argument is a key: random::key(42)";
    return false;
  }
};

/// Makes tensor<T, A...> by make(dtype, axes, extents, key).
template <fixed_string Who, base::makes Takes, class T, class... A, class K, class Make,
          class... Given>
auto create(K const& k, Make make, Given const&... given) {
  if constexpr (!base::same<K, key>) {
    base::refuse_by<key_rule<Who>>();
    return poisoned{};
  } else {
    return base::create<Who, Takes, T, A...>(
        [&](dtype type, graph::axes_view axes, std::int64_t const* extents) {
          return make(type, axes, extents, k);
        },
        given...);
  }
}
}  // namespace detail

/// Standard normal.
template <class T, class... A, class K, class... Given>
[[nodiscard]] auto normal(K const& k, Given const&... given) {
  return detail::create<"random::normal", ricci::detail::makes::floats, T, A...>(
      k,
      [](dtype type, graph::axes_view axes, std::int64_t const* extents, key const& seed) {
        return graph::random_normal(type, axes, extents, seed, 0, 1);
      },
      given...);
}

/// Uniform in [0, 1).
template <class T, class... A, class K, class... Given>
[[nodiscard]] auto uniform(K const& k, Given const&... given) {
  return detail::create<"random::uniform", ricci::detail::makes::floats, T, A...>(
      k,
      [](dtype type, graph::axes_view axes, std::int64_t const* extents, key const& seed) {
        return graph::random_uniform(type, axes, extents, seed, 0, 1);
      },
      given...);
}

/// Standard normal, within two deviations.
template <class T, class... A, class K, class... Given>
[[nodiscard]] auto truncated_normal(K const& k, Given const&... given) {
  return detail::create<"random::truncated_normal", ricci::detail::makes::floats, T, A...>(
      k,
      [](dtype type, graph::axes_view axes, std::int64_t const* extents, key const& seed) {
        return graph::random_truncated_normal(type, axes, extents, seed, 0, 1, -2, 2);
      },
      given...);
}

/// True with the probability given.
template <class... A, class K, class... Given>
[[nodiscard]] auto bernoulli(K const& k, double probability, Given const&... given) {
  return detail::create<"random::bernoulli", ricci::detail::makes::all, boolean, A...>(
      k,
      [probability](dtype, graph::axes_view axes, std::int64_t const* extents, key const& seed) {
        return graph::random_bernoulli(axes, extents, seed, probability);
      },
      given...);
}

/// The positions of an axis in random order, T i32 or i64.
template <class T, class A, class K, class... Given>
[[nodiscard]] auto permutation(K const& k, Given const&... given) {
  return detail::create<"random::permutation", ricci::detail::makes::positions, T, A>(
      k,
      [](dtype type, graph::axes_view axes, std::int64_t const* extents, key const& seed) {
        return graph::random_permutation(type, axes, extents, seed);
      },
      given...);
}

}  // namespace ricci::random
