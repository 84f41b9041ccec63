#pragma once

#include <ricci/tensor/node.hpp>

#include <span>

namespace ricci {
namespace detail {

/// The node that tensor<T, A...> is: a device may stand last.
template <bool AllAxes, class T, class... A> struct tensor_node { using type = node<T, host, A...>; };
template <class T, class Done, class... A> struct split_device { using type = node<T, no_device>; };
template <class T, class... Done, class A0, class A1, class... A>
  requires is_axis<A0>
struct split_device<T, pack<Done...>, A0, A1, A...> : split_device<T, pack<Done..., A0>, A1, A...> {};
template <class T, class... Done, class D>
  requires is_device<D>
struct split_device<T, pack<Done...>, D> { using type = node<T, D, Done...>; };
template <class T, class... A> struct tensor_node<false, T, A...> : split_device<T, pack<>, A...> {};
template <class T, class... A> using tensor_base =
    typename tensor_node<(is_axis<A> && ...), T, A...>::type;

/// A value of node V is given to a tensor of node N, which is another.
template <class V, class N> struct annotation_rule {
  static constexpr bool check(message* why) {
    if (!why) return false;
    message& m = *why;
    constexpr axes_list value{V::axes, V::rank};
    constexpr axes_list wanted{N::axes, N::rank};
    bool same_axes = value.rank == wanted.rank;
    for (int i = 0; same_axes && i < value.rank; ++i) same_axes = same_axis_among(wanted, value.axes[i]);
    bool same_order = same_axes;
    for (int i = 0; same_order && i < value.rank; ++i) same_order = is_same_axis(value.axes[i], wanted.axes[i]);
    if (!same_order) {
      if (!same_axes && write_name_clash(m, "tensor", value, {"the value"}, wanted, {"the annotation"})) return false;
      m << "tensor: the value has axes [";
      write_axes(m, value);
      m << "], the annotation says [";
      write_axes(m, wanted);
      m << (same_axes ? "], another order (write it so, or `permute`)" : "]");
    } else if (!same<typename V::element_type, typename N::element_type>) {
      auto const type = name_of(dtype_of<typename N::element_type>);
      m << "tensor: the value is " << name_of(dtype_of<typename V::element_type>) << ", the annotation says " << type
        << " (write `to<" << type << ">(...)`)";
    } else {
      m << "tensor: the value is on " << V::device::name << ", the annotation says " << N::device::name << " (write `to<"
        << N::device::name << ">(...)`)";
    }
    return false;
  }
};

/// A tensor is made by a function, not by its extents.
template <class... Argument> struct construction_rule {
  static constexpr bool check(message* why) {
    if (why)
      *why << "tensor: a constructor takes no extents and no numbers: write `zeros<...>`, `full<...>`, `from<...>` or "
              "`random::normal<...>`";
    return false;
  }
};

}  // namespace detail

/// A value: packed row-major storage of T over the axes A..., shared when copied, never written in
/// place. Made by evaluating an expression (`tensor h = a + b;`) or by `zeros`, `from`, `random`.
/// A default-constructed tensor is empty; using it throws value_error.
///   Axes    A..., all different, at most 24; a device may stand last
///   Errors  an expression of other axes, order or dtype (compile time)
template <class T, class... A> class tensor : public detail::tensor_base<T, A...> {
  using base = detail::tensor_base<T, A...>;

 public:
  static constexpr bool is_expression = false;
  static constexpr bool is_view = false;

  tensor() : base() {}
  tensor(tensor const&) = default;
  tensor(tensor&&) = default;
  tensor& operator=(tensor const&) = default;
  tensor& operator=(tensor&&) = default;
  explicit tensor(detail::make_node, graph::handle handle) : base(std::move(handle)) {}

  /// Evaluates, once.
  tensor(base const& e) : base(graph::packed(e.handle())) {}
  tensor(base&& e) : base(graph::packed(std::move(e).handle())) {}

  tensor(poisoned) {}
  template <class E>
    requires(detail::is_node<E> && !std::derived_from<E, base>)
  tensor(E const&) {
    if constexpr (detail::keeps<detail::node_rule<T, typename base::device>>)
      detail::refuse_by<detail::annotation_rule<typename E::node_type, base>>();
  }
  template <class... E>
    requires(sizeof...(E) > 0 && ((detail::is_axis<E> || std::is_arithmetic_v<E>) && ...))
  explicit tensor(E const&...) {
    detail::refuse_by<detail::construction_rule<E...>>();
  }

  /// The elements in row-major order.
  std::span<T const> values() const {
    return {static_cast<T const*>(graph::data(this->handle_)),
            static_cast<std::size_t>(graph::element_count(this->handle_))};
  }
  /// Is it the default-constructed tensor, which holds nothing?
  bool is_empty() const { return !this->handle_; }
};

/// What `tensor h = rejected` is.
template <> class tensor<poisoned> : public poisoned {
 public:
  tensor() = default;
  tensor(poisoned) {}
};

template <class T, class... A> tensor(node<T, host, A...> const&) -> tensor<T, A...>;
tensor(poisoned) -> tensor<poisoned>;

namespace detail {
template <class T, class D, class Axes> struct tensor_of;
template <class T, class... A> struct tensor_of<T, host, pack<A...>> { using type = tensor<T, A...>; };
}  // namespace detail

/// The tensor type of a node's dtype, axes and device.
template <class Node> using tensor_type =
    typename detail::tensor_of<typename Node::element_type, typename Node::device,
                               typename Node::axes_type>::type;

}  // namespace ricci
