#pragma once

#include <ricci/tensor/node.hpp>

#include <span>

namespace ricci {
namespace detail {

/// The node that tensor<T, A...> is: a device may stand last.
template <bool AllAxes, class T, class... A> struct tensor_node { using type = node<T, host, A...>; };
template <class T, class Device, class... A> struct with_device {
  using type = node<T, Device, A...>;
};
template <class T, class Done, class... A> struct split_device;
template <class T, class... Done, class A0, class... A>
struct split_device<T, pack<Done...>, A0, A...> : split_device<T, pack<Done..., A0>, A...> {};
template <class T, class... Done, class D> struct split_device<T, pack<Done...>, D>
    : with_device<T, D, Done...> {};
template <class T, class... A> struct tensor_node<false, T, A...> : split_device<T, pack<>, A...> {};
template <class T, class... A> using tensor_base =
    typename tensor_node<(is_axis<A> && ...), T, A...>::type;

/// A value of node V is given to a tensor of node N, which is another.
template <class V, class N> struct annotation_rule {
  static constexpr bool check(message* why) {
    if (!why) return false;
    message& m = *why;
    m << "tensor: the value ";
    if (!same<typename V::element_type, typename N::element_type>) {
      auto const wanted = name_of(dtype_of<typename N::element_type>);
      m << "is " << name_of(dtype_of<typename V::element_type>) << ", the annotation says " << wanted
        << " (write `to<" << wanted << ">(...)`)";
    } else if (!same<typename V::device, typename N::device>) {
      m << "is on " << V::device::name << ", the annotation says " << N::device::name;
    } else {
      m << "has axes [";
      write_axes(m, V::axes, V::rank);
      m << "], the annotation says [";
      write_axes(m, N::axes, N::rank);
      m << "]";
    }
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
    detail::refuse_by<detail::annotation_rule<typename E::node_type, base>>();
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
