#pragma once

#include <ricci/axis/pack.hpp>
#include <ricci/error/message.hpp>
#include <ricci/error/poisoned.hpp>
#include <ricci/tensor/device.hpp>
#include <ricci/tensor/dtype.hpp>
#include <ricci/tensor/graph.hpp>
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

/// Finds what is wrong with the axes of a tensor; writes the sentence where `why` is given.
constexpr bool axes_fit(axis_info const* const* axes, int rank, message* why) {
  if (rank > max_rank) {
    if (why) *why << "tensor: " << rank << " axes; a tensor has at most " << max_rank;
    return false;
  }
  for (int i = 0; i < rank; ++i)
    for (int j = 0; j < i; ++j) {
      if (axes[i]->name_size != axes[j]->name_size || axes[i]->view() != axes[j]->view()) continue;
      if (why) {
        *why << "tensor: ";
        if (axes[i] == axes[j]) {
          *why << "axis ";
          why->quote(axes[i]->view()) << " stands twice: the axes of a tensor are all different (a "
                                         "second one of the same extent is `prime<...>`)";
        } else {
          *why << "two axis types are named ";
          why->quote(axes[i]->view()) << ": one name is one type";
        }
      }
      return false;
    }
  return true;
}

template <class... A> struct axes_rule {
  static constexpr bool check(message* why) { return axes_fit(axis_list<A...>, sizeof...(A), why); }
};
template <class... A> void require_axes() {
  if constexpr (!keeps<axes_rule<A...>>) refuse_by<axes_rule<A...>>();
}

std::ostream& print_value(std::ostream& out, graph::handle const& x);
/// The element at a place; positions are in the order of the axes. Throws index_error.
void const* element(graph::handle const& x, std::int64_t const* positions);

template <class Node> struct item_rule {
  static constexpr bool check(message* why) {
    if (Node::rank == 0) return true;
    if (why) {
      *why << "item: the value has axes [";
      write_axes(*why, Node::axes, Node::rank);
      *why << "]; item() reads a rank-0 value (give the place: x(Axis{i}, ...))";
    }
    return false;
  }
};

/// A place: every axis of `axes` once. @pre given[i] are axes
constexpr bool place_fits(axis_info const* const* axes, int rank, axis_info const* const* given,
                          int count, message* why) {
  for (int i = 0; i < count; ++i) {
    bool found = false;
    for (int j = 0; j < rank; ++j) found = found || axes[j] == given[i];
    if (!found) {
      if (why) {
        *why << "x(...): the value has no axis ";
        why->quote(given[i]->view()) << " (it has: ";
        write_axes(*why, axes, rank);
        *why << ")";
        suggest(*why, given[i]->view(), axes, rank);
      }
      return false;
    }
    for (int j = 0; j < i; ++j) {
      if (given[j] != given[i]) continue;
      if (why) {
        *why << "x(...): axis ";
        why->quote(given[i]->view()) << " is given twice";
      }
      return false;
    }
  }
  for (int j = 0; j < rank; ++j) {
    bool found = false;
    for (int i = 0; i < count; ++i) found = found || axes[j] == given[i];
    if (found) continue;
    if (why) {
      *why << "x(...): the position along axis ";
      why->quote(axes[j]->view()) << " is missing (all axes are given, each once)";
    }
    return false;
  }
  return true;
}

template <class Node, class... P> struct place_rule {
  static constexpr bool check(message* why) {
    if constexpr ((is_axis<P> && ...)) {
      return place_fits(Node::axes, Node::rank, axis_list<P...>, sizeof...(P), why);
    } else {
      if (why) *why << "x(...): a place is given by axes, as in x(Batch{1}, Hidden{3})";
      return false;
    }
  }
};

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

  friend std::ostream& operator<<(std::ostream& out, node const& x) {
    return detail::print_value(out, x.handle_);
  }

 protected:
  friend struct detail::leaf_access;

  node() { detail::require_axes<A...>(); }
  explicit node(graph::handle handle) : handle_(std::move(handle)) { detail::require_axes<A...>(); }
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
