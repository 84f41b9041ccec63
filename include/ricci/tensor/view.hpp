#pragma once

#include <ricci/tensor/layout.hpp>
#include <ricci/tensor/node.hpp>

namespace ricci {

/// A tensor seen through other strides: it shares the storage and never copies. Its layout stands
/// in its type, so what it can become without a copy is known while compiling.
template <class Node, layout L> class view : public Node {
 public:
  static constexpr bool is_expression = false;
  static constexpr bool is_view = true;
  static constexpr layout layout_value = L;

  explicit view(detail::make_node, graph::handle handle) : Node(std::move(handle)) {}
  view(view const&) = default;
  view(view&&) = default;
  view& operator=(view const&) = default;
  view& operator=(view&&) = default;
};

namespace detail {
/// The layout of a value: packed, but of a view.
template <class X> consteval layout layout_of() {
  if constexpr (bare<X>::is_view)
    return bare<X>::layout_value;
  else
    return layout::packed(bare<X>::rank);
}
}  // namespace detail

}  // namespace ricci
