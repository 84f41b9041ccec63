#pragma once

#include <ricci/axis/pack.hpp>
#include <ricci/error/message.hpp>
#include <ricci/error/poisoned.hpp>
#include <ricci/tensor/device.hpp>
#include <ricci/tensor/dtype.hpp>
#include <ricci/tensor/graph.hpp>
#include <ricci/tensor/node_rules.hpp>
#include <ricci/tensor/shape.hpp>

#include <concepts>
#include <iosfwd>

namespace ricci {

template <class T, class... A> class tensor;

namespace detail {

struct node_base {};
struct leaf_access;

/// Tag of the constructors that adopt a handle.
struct make_node {};

std::ostream& print_value(std::ostream& out, graph::handle const& x);
/// The element at a place; positions are in the order of the axes. Throws index_error.
void const* element(graph::handle const& x, std::int64_t const* positions);

}  // namespace detail

/// What all values derive from: tensors, views and expressions. It carries the dtype, the device
/// and the axes, so that `tensor h = e` deduces all three, and holds one handle.
template <class T, class D, class... A> class node : public detail::node_base {
 public:
  using element_type = T;
  using device = D;
  using axes_type = pack<A...>;
  using node_type = node;
  static constexpr int rank = sizeof...(A);
  static constexpr axis_info const* const* axes = detail::axis_list<A...>;

  /// The untyped value; for the library.
  graph::handle const& handle() const& { return handle_; }
  graph::handle&& handle() && { return static_cast<graph::handle&&>(handle_); }

  /// Extents by axis.
  ricci::shape<A...> shape() const {
    ricci::shape<A...> result;
    std::int64_t const* const extents = graph::extents(handle_);
    for (int i = 0; i < rank; ++i) result.extents[i] = extents[i];
    return result;
  }

  /// The number of a rank-0 value.
  ///   Errors  a value that has axes (compile time)
  T item() const {
    if constexpr (rank != 0) {
      detail::refuse_by<detail::item_rule<node>>();
      return T{};
    } else {
      return *static_cast<T const*>(graph::data(handle_));
    }
  }

  /// The number at a place: every axis once, in any order.
  ///   Errors  an axis missing, twice or unknown (compile time); outside its extent: index_error
  template <class... P>
    requires(sizeof...(P) > 0)
  T operator()(P const&... place) const {
    if constexpr (!detail::keeps<detail::place_rule<node, P...>>) {
      detail::refuse_by<detail::place_rule<node, P...>>();
      return T{};
    } else {
      std::int64_t positions[rank + 1]{};
      ((positions[detail::place_in<P>(pack<A...>{})] = place.value), ...);
      return *static_cast<T const*>(detail::element(handle_, positions));
    }
  }

  /// Not a condition: `if (a == b)` is ambiguous.
  ///   Errors  always (compile time)
  explicit operator bool() const {
    detail::refuse_by<detail::condition_rule<node>>();
    return false;
  }

  friend std::ostream& operator<<(std::ostream& out, node const& x) {
    return detail::print_value(out, x.handle_);
  }

 protected:
  friend struct detail::leaf_access;

  node() { detail::require_node<T, D, A...>(); }
  explicit node(graph::handle handle) : handle_(std::move(handle)) { detail::require_node<T, D, A...>(); }
  node(node const&) = default;
  node(node&&) = default;
  node& operator=(node const&) = default;
  node& operator=(node&&) = default;
  ~node() = default;

  graph::handle handle_;
};

namespace detail {

template <class X> using bare = std::remove_cvref_t<X>;
/// A tensor, a view or an expression.
template <class X> inline constexpr bool is_node = __is_base_of(node_base, bare<X>);
template <class... X>
concept SomeNode = (is_node<X> || ...) || (is_poisoned<X> || ...);

/// node<T, D, pack of axes> as a type.
template <class T, class D, class Axes> struct node_of;
template <class T, class D, class... A> struct node_of<T, D, pack<A...>> {
  using type = node<T, D, A...>;
};

}  // namespace detail
}  // namespace ricci
