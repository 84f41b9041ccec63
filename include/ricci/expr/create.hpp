#pragma once

#include <ricci/expr/given_extents.hpp>
#include <ricci/expr/number.hpp>

#include <span>

namespace ricci {
namespace detail {

/// Makes tensor<T, A...> by make(axes, extents), after the rules of its extents.
template <fixed_string Who, class T, class... A, class Make, class... Given>
auto create(Make make, Given const&... given) {
  using rule = extents_rule<Who, pack<A...>, Given...>;
  if constexpr (!keeps<rule>) {
    refuse_by<rule>();
    return poisoned{};
  } else {
    std::int64_t extents[sizeof...(A) + 1];
    fill_extents(pack<A...>{}, extents, given...);
    return tensor<T, A...>(make_node{}, make(graph::axes_view{axis_list<A...>, sizeof...(A)}, extents));
  }
}

graph::handle copy_into_leaf(dtype type, graph::axes_view axes, std::int64_t const* extents, void const* data,
                             std::int64_t count);

template <class T, class V> struct full_rule {
  static constexpr bool check(message* why) {
    if constexpr (!is_number<V>) {
      if (why) *why << "full: the first argument is a number";
      return false;
    } else {
      if (is_floating_v<T> || !is_floating_number<V>) return true;
      if (why)
        *why << "full: a floating number for a tensor of " << name_of(dtype_of<T>) << ": write an integer";
      return false;
    }
  }
};

}  // namespace detail

/// A tensor of one number.
///   Axes    A...; the extents of dynamic ones by value, in any order: full<f32, Batch>(1, Batch{8})
///   Errors  an extent missing, twice or of a static axis (compile time); negative, or a product
///           that overflows: shape_error; a floating number for integers (compile time); a
///           whole one that the dtype does not hold: value_error
template <Dtype T, class... A, class V, class... Given> [[nodiscard]] auto full(V value, Given const&... given) {
  if constexpr (!detail::keeps<detail::full_rule<T, V>>) {
    detail::refuse_by<detail::full_rule<T, V>>();
    return poisoned{};
  } else {
    detail::number_value const number = detail::as_number<T>("full", value);
    return detail::create<"full", T, A...>(
        [&](graph::axes_view axes, std::int64_t const* extents) {
          return graph::full(dtype_of<T>, axes, extents, number.floating, number.integer);
        },
        given...);
  }
}
template <Dtype T, class... A, class... Given> [[nodiscard]] auto zeros(Given const&... given) {
  return detail::create<"zeros", T, A...>(
      [](graph::axes_view axes, std::int64_t const* extents) {
        return graph::full(dtype_of<T>, axes, extents, 0, 0);
      },
      given...);
}
template <Dtype T, class... A, class... Given> [[nodiscard]] auto ones(Given const&... given) {
  return detail::create<"ones", T, A...>(
      [](graph::axes_view axes, std::int64_t const* extents) {
        return graph::full(dtype_of<T>, axes, extents, 1, 1);
      },
      given...);
}

/// A tensor with the elements of a span, in row-major order, copied.
///   Errors  another number of elements than the axes have: shape_error
template <Dtype T, class... A, class... Given>
[[nodiscard]] auto from(std::span<T const> values, Given const&... given) {
  return detail::create<"from", T, A...>(
      [&](graph::axes_view axes, std::int64_t const* extents) {
        return detail::copy_into_leaf(dtype_of<T>, axes, extents, values.data(),
                                      static_cast<std::int64_t>(values.size()));
      },
      given...);
}
/// As above, the values in braces: from<f32, Row>({1, 2, 3}, Row{3}).
template <Dtype T, class... A, class... Given>
[[nodiscard]] auto from(std::initializer_list<T> values, Given const&... given) {
  return from<T, A...>(std::span<T const>(values.begin(), values.size()), given...);
}

struct iota_op {};

/// 0, 1, 2, ... along an axis.
template <Dtype T, class A, class... Given> [[nodiscard]] auto iota(Given const&... given) {
  using rule = detail::extents_rule<"iota", pack<A>, Given...>;
  if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    std::int64_t extents[1];
    detail::fill_extents(pack<A>{}, extents, given...);
    using result = node<T, host, A>;
    return expression<iota_op, result>(detail::make_node{},
                                       graph::iota(dtype_of<T>, {result::axes, 1}, extents, 0));
  }
}

/// The extent of an axis.
///   Errors  x has no such axis (compile time)
template <class A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto extent_of(X const& x) {
  using rule = detail::axes_of_operand_rule<"extent_of", X const&, A>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return std::int64_t{0};
  } else {
    return graph::extents(x.handle())[detail::find_axis(detail::axes_of_value<X>(), &axis_info_of<A>)];
  }
}

}  // namespace ricci
