#pragma once

#include <ricci/grad/leaves.hpp>
#include <ricci/tensor/random.hpp>

namespace ricci {
namespace detail {

enum class filling : std::uint8_t { normal, truncated_normal, uniform, constant };
/// A new packed value for a parameter; dynamic axes keep the extents of the old one.
graph::handle filled(graph::handle const& old, dtype type, graph::axes_view axes, random::key k, filling how,
                     double a, double b);
/// Number of inputs (all but the last `outputs` axes) and outputs of a parameter.
struct fans {
  double in = 1;
  double out = 1;
};
fans fans_of(graph::handle const& old, graph::axes_view axes, int outputs = 1);

template <class T, class... A>
void fill(tensor<T, A...>& leaf, random::key k, filling how, double a, double b) {
  using leaf_type = tensor<T, A...>;
  graph::handle& handle = leaf_access::handle(leaf);
  handle = filled(handle, dtype_of<T>, {leaf_type::axes, leaf_type::rank}, k, how, a, b);
}

}  // namespace detail

/// Ways to fill one parameter. Extents of dynamic axes are those that it has.
///   Errors  an empty parameter with a dynamic axis: value_error
namespace init {

/// Normal with a mean of 0 and the deviation given.
template <class T, class... A> void normal(tensor<T, A...>& leaf, random::key k, double deviation) {
  detail::fill(leaf, k, detail::filling::normal, 0, deviation);
}
/// Normal, cut at two deviations.
template <class T, class... A> void truncated_normal(tensor<T, A...>& leaf, random::key k, double deviation) {
  detail::fill(leaf, k, detail::filling::truncated_normal, 0, deviation);
}
/// Uniform in [low, high).
template <class T, class... A> void uniform(tensor<T, A...>& leaf, random::key k, double low, double high) {
  detail::fill(leaf, k, detail::filling::uniform, low, high);
}
template <class T, class... A> void constant(tensor<T, A...>& leaf, double value) {
  detail::fill(leaf, random::key(0), detail::filling::constant, value, 0);
}
template <class T, class... A> void zeros(tensor<T, A...>& leaf) { constant(leaf, 0); }
template <class T, class... A> void ones(tensor<T, A...>& leaf) { constant(leaf, 1); }

/// Uniform with variance 2 / (inputs + outputs); the last axis is the output.
///   Source  Glorot and Bengio, 2010
template <class T, class... A> void xavier_uniform(tensor<T, A...>& leaf, random::key k) {
  using leaf_type = tensor<T, A...>;
  auto const f = detail::fans_of(leaf.handle(), {leaf_type::axes, leaf_type::rank});
  double const bound = __builtin_sqrt(6.0 / (f.in + f.out));
  uniform(leaf, k, -bound, bound);
}
template <class T, class... A> void xavier_normal(tensor<T, A...>& leaf, random::key k) {
  using leaf_type = tensor<T, A...>;
  auto const f = detail::fans_of(leaf.handle(), {leaf_type::axes, leaf_type::rank});
  normal(leaf, k, __builtin_sqrt(2.0 / (f.in + f.out)));
}
/// Uniform with variance 2 / inputs (for relu).
///   Source  He, Zhang, Ren and Sun, 2015
template <class T, class... A> void kaiming_uniform(tensor<T, A...>& leaf, random::key k) {
  using leaf_type = tensor<T, A...>;
  double const bound = __builtin_sqrt(6.0 / detail::fans_of(leaf.handle(), {leaf_type::axes, leaf_type::rank}).in);
  uniform(leaf, k, -bound, bound);
}
template <class T, class... A> void kaiming_normal(tensor<T, A...>& leaf, random::key k) {
  using leaf_type = tensor<T, A...>;
  normal(leaf, k, __builtin_sqrt(2.0 / detail::fans_of(leaf.handle(), {leaf_type::axes, leaf_type::rank}).in));
}

}  // namespace init

namespace detail {

/// The extents of dynamic axes that an `initialize` on this thread was given, for as long as it runs.
class extents_given_scope {
 public:
  extents_given_scope(axis_info const* const* axes, std::int64_t const* extents, int count);
  ~extents_given_scope();
  extents_given_scope(extents_given_scope const&) = delete;
  extents_given_scope& operator=(extents_given_scope const&) = delete;

 private:
  axes_list before_axes_;
  std::int64_t const* before_extents_;
};

template <class M, class... Given> struct initialize_rule {
  static constexpr bool check(message* why) {
    if constexpr (!(is_axis<Given> && ...)) {
      if (why) *why << "initialize: an extent is given as an axis value: Width{128}";
      return false;
    } else {
      return requires(M& m, random::key k) { m.initialize(k); } || module_rule<"initialize", M>::check(why);
    }
  }
};

template <class M> void initialize_members(M& m, random::key k) {
  if constexpr (requires { m.initialize(k); }) {
    m.initialize(k);
  } else if constexpr (is_tensor<M>) {
    if constexpr (M::rank < 2)
      init::zeros(m);
    else
      init::normal(m, k, 0.02);
  } else if constexpr (!is_module_struct<M>) {
    if constexpr (requires { m.has_value(), *m; }) {
      if (m.has_value()) initialize_members(*m, k);
    } else {
      int i = 0;
      for (auto& member : m) initialize_members(member, k.fold(i++));
    }
  } else if constexpr (!keeps<members_rule<M>>) {
    refuse_by<members_rule<M>>();
  } else {
    boost::hana::unpack(boost::hana::accessors<M>(), [&](auto... member) {
      (initialize_members(boost::hana::second(member)(m), k.fold(boost::hana::first(member).c_str())), ...);
    });
  }
}

}  // namespace detail

/// Fills every parameter by its module's rule: a module that has `initialize(key)` by that, another
/// by its members', each under its own name (`key.fold("up")`); a tensor of rank 1 or 0 with zeros,
/// another with a normal of deviation 0.02.
///   Axes    extents of dynamic axes by value at the end: initialize(m, key, Width{128}); an axis's
///           primes have its extent
///   Errors  an empty parameter with a dynamic axis that is not given: value_error
template <class M, class... Given> void initialize(M& m, random::key k, Given const&... given) {
  using rule = detail::initialize_rule<M, Given...>;
  if constexpr (detail::is_poisoned<M>) {
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
  } else {
    std::int64_t const extents[] = {given.value..., 0};
    detail::extents_given_scope const scope(detail::axis_list<Given...>, extents, sizeof...(Given));
    detail::initialize_members(m, k);
  }
}

}  // namespace ricci
