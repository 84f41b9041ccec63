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

/// Can its leaves be walked: a tensor, a module, or vectors, arrays and optionals of them?
template <class M> constexpr bool walkable() {
  if constexpr (is_tensor<M> || is_module_struct<M>) return true;
  else if constexpr (requires(M& m) { *m.begin(), m.end(), m.size(); })
    return walkable<std::remove_cvref_t<decltype(*std::declval<M&>().begin())>>();
  else if constexpr (requires(M& m) { m.has_value(), *m; })
    return walkable<std::remove_cvref_t<decltype(*std::declval<M&>())>>();
  else
    return false;
}
template <class M> inline constexpr bool is_walkable = walkable<M>();

/// The members of a module are modules.
template <class M> struct members_rule {
  static constexpr bool check(message* why) {
    return boost::hana::unpack(boost::hana::accessors<M>(), [why](auto... member) {
      return (fits<std::remove_cvref_t<decltype(boost::hana::second(member)(std::declval<M&>()))>>(
                  boost::hana::first(member).c_str(), why) &&
              ...);
    });
  }
  template <class Member> static constexpr bool fits(char const* name, message* why) {
    if (is_walkable<Member>) return true;
    if (why) {
      *why << "module: member ";
      why->quote(name) << " is neither a tensor nor a module nor a vector, array or optional of them (others are "
                          "declared outside of BOOST_HANA_DEFINE_STRUCT)";
    }
    return false;
  }
};

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
///   @pre  is_walkable<M>; the members of structs are checked here
template <class M, class F> void walk_leaves(M& m, std::string const& name, F& f) {
  using type = std::remove_const_t<M>;
  if constexpr (is_tensor<type>) {
    f(name, m);
  } else if constexpr (!is_module_struct<type>) {
    if constexpr (requires { m.has_value(), *m; }) {
      if (m.has_value()) walk_leaves(*m, name, f);
    } else {
      walk_range(m, name, f);
    }
  } else if constexpr (!keeps<members_rule<type>>) {
    refuse_by<members_rule<type>>();
  } else {
    boost::hana::unpack(boost::hana::accessors<type>(), [&](auto... member) {
      (walk_leaves(boost::hana::second(member)(m), child_name(name, boost::hana::first(member).c_str()), f), ...);
    });
  }
}

/// What is differentiated, initialized or walked.
template <fixed_string Who, class M> struct module_rule {
  static constexpr bool check(message* why) {
    if (is_walkable<M>) return true;
    if (why)
      *why << Who.view() << ": the first value is neither a tensor nor a module (BOOST_HANA_DEFINE_STRUCT makes a struct one)";
    return false;
  }
};

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
  using rule = detail::module_rule<"for_each_parameter", std::remove_cvref_t<M>>;
  if constexpr (detail::is_poisoned<M>) {
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
  } else {
    detail::walk_leaves(m, std::string(), f);
  }
}

}  // namespace ricci
