#pragma once

#include <ricci/tensor/tensor.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/core/is_a.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/unpack.hpp>
#include <boost/hana/tuple.hpp>

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <vector>

/// Walking a module: a tensor, a struct made walkable by BOOST_HANA_DEFINE_STRUCT, or vectors,
/// arrays and optionals of them.
namespace ricci {
namespace detail {

template <class M> inline constexpr bool is_tensor = false;
template <class T, class... A> inline constexpr bool is_tensor<tensor<T, A...>> = true;

template <class M> inline constexpr bool is_module_struct = boost::hana::Struct<M>::value;

/// A leaf of a module: its dotted name and its place.
struct leaf {
  std::string name;
  graph::handle* handle;
  dtype type;
  graph::axes_view axes;
};

struct leaf_access {
  template <class Tensor> static graph::handle& handle(Tensor& t) { return t.handle_; }
};

std::string child_name(std::string const& parent, char const* member);
std::string child_name(std::string const& parent, std::size_t index);

template <class M, class F> void walk_leaves(M& m, std::string const& name, F& f);

template <class M, class F> void walk_range(M& m, std::string const& name, F& f) {
  std::size_t i = 0;
  for (auto& member : m) walk_leaves(member, child_name(name, i++), f);
}

/// Calls f(name, tensor) for every leaf, in the order of declaration.
template <class M, class F> void walk_leaves(M& m, std::string const& name, F& f) {
  using type = std::remove_const_t<M>;
  if constexpr (is_tensor<type>) {
    f(name, m);
  } else if constexpr (is_module_struct<type>) {
    boost::hana::unpack(boost::hana::accessors<type>(), [&](auto... member) {
      (walk_leaves(boost::hana::second(member)(m), child_name(name, boost::hana::first(member).c_str()), f), ...);
    });
  } else if constexpr (requires { m.begin(), m.end(), m.size(); }) {
    walk_range(m, name, f);
  } else if constexpr (requires { m.has_value(), *m; }) {
    if (m.has_value()) walk_leaves(*m, name, f);
  } else {
    static_assert(is_tensor<type>,
                  "module: a member of BOOST_HANA_DEFINE_STRUCT is neither a tensor nor a module nor a vector, array or "
                  "optional of them (other members are declared outside of it)");
  }
}

template <class M> std::vector<leaf> leaves_of(M& m) {
  std::vector<leaf> leaves;
  auto collect = [&leaves](std::string const& name, auto& t) {
    using T = std::remove_cvref_t<decltype(t)>;
    leaves.push_back({name, &leaf_access::handle(t), dtype_of<typename T::element_type>, {T::axes, T::rank}});
  };
  walk_leaves(m, std::string(), collect);
  return leaves;
}

}  // namespace detail

/// A tensor, or a struct of them that BOOST_HANA_DEFINE_STRUCT made walkable.
template <class M>
concept Module = detail::is_tensor<M> || detail::is_module_struct<M>;

/// Calls f(name, leaf) for every parameter of a module, with its type, in order of declaration. The
/// dotted name (`blocks.3.mlp.up.weight`) names the leaf in checkpoints, reports and errors.
template <class M, class F> void for_each_parameter(M&& m, F&& f) {
  detail::walk_leaves(m, std::string(), f);
}

}  // namespace ricci
