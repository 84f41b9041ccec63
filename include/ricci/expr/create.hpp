#pragma once

#include <ricci/expr/given_extents.hpp>
#include <ricci/expr/number.hpp>

#include <concepts>
#include <initializer_list>
#include <span>
#include <type_traits>

namespace ricci {
namespace detail {

/// The dtypes that a creation makes.
enum class makes : std::uint8_t { all, numbers, floats, positions };

/// `zeros<f32, Batch>(Batch{8})`: the dtype, then the rules of the extents.
template <fixed_string Who, makes Takes, class T, class Axes, class... Given> struct creation_rule {
  static constexpr bool check(message* why) {
    if constexpr (!Dtype<T>) {
      if (why)
        *why << Who.view() << ": the first type in < > is the dtype: " << Who.view()
             << "<f32, ...>";
      return false;
    } else {
      constexpr dtype type = dtype_of<T>;
      bool const takes = Takes == makes::all ||
                         (Takes == makes::numbers && type != dtype::boolean) ||
                         (Takes == makes::floats && is_floating(type)) ||
                         (Takes == makes::positions && (type == dtype::i32 || type == dtype::i64));
      if (!takes) {
        if (why)
          *why << Who.view() << ": not defined on " << name_of(type) << ", it makes "
               << (Takes == makes::floats    ? "floating numbers"
                   : Takes == makes::numbers ? "numbers"
                                             : "i32 or i64");
        return false;
      }
      return extents_rule<Who, Axes, Given...>::check(why);
    }
  }
};

/// The number of `full`.
template <class T, class V> struct full_rule {
  static constexpr bool check(message* why) {
    if constexpr (!Dtype<T> || !is_number<V>) {
      if (why) *why << "full: the first argument is not a number";
      return !Dtype<T>;
    } else {
      if (is_floating_v<T> || !is_floating_number<V>) return true;
      if (why)
        *why << "full: the value is a floating number, the dtype is " << name_of(dtype_of<T>)
             << ": write an integer";
      return false;
    }
  }
};

/// What `from` copies.
template <class T> struct values_rule {
  static constexpr bool check(message* why) {
    if (!why) return false;
    if constexpr (Dtype<T>)
      *why << "from: the first argument is no contiguous range of " << name_of(dtype_of<T>)
           << " (a std::vector or std::span of that type)";
    else
      *why << "from: the first type in < > is the dtype: from<f32, ...>";
    return false;
  }
};

/// Makes tensor<T, A...> by make(dtype, axes, extents), after the rules of its extents.
template <fixed_string Who, makes Takes, class T, class... A, class Make, class... Given>
auto create(Make make, Given const&... given) {
  using rule = creation_rule<Who, Takes, T, pack<A...>, Given...>;
  if constexpr (!keeps<rule>) {
    refuse_by<rule>();
    return poisoned{};
  } else {
    std::int64_t extents[sizeof...(A) + 1]{};
    fill_extents(pack<A...>{}, extents, given...);
    return tensor<T, A...>(
        make_node{}, make(dtype_of<T>, graph::axes_view{axis_list<A...>, sizeof...(A)}, extents));
  }
}

graph::handle copy_into_leaf(dtype type, graph::axes_view axes, std::int64_t const* extents,
                             void const* data, std::int64_t count);

}  // namespace detail

/// A tensor of one number.
///   Axes    A...; the extents of dynamic ones by value, in any order: full<f32, Batch>(1,
///   Batch{8}) Errors  an extent missing, twice or of a static axis (compile time); negative, or a
///   product
///           that overflows: shape_error; a floating number for integers (compile time); a
///           whole one that the dtype does not hold: value_error
template <class T, class... A, class V, class... Given>
[[nodiscard]] auto full(V const& value, Given const&... given) {
  using rule = detail::full_rule<T, V>;
  if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else if constexpr (!Dtype<T>) {
    return detail::create<"full", detail::makes::all, T, A...>(0, given...);
  } else {
    detail::number_value const number = detail::as_number<T>("full", value);
    return detail::create<"full", detail::makes::all, T, A...>(
        [&](dtype type, graph::axes_view axes, std::int64_t const* extents) {
          return graph::packed(graph::full(type, axes, extents, number.floating, number.integer));
        },
        given...);
  }
}
template <class T, class... A, class... Given> [[nodiscard]] auto zeros(Given const&... given) {
  return detail::create<"zeros", detail::makes::all, T, A...>(
      [](dtype type, graph::axes_view axes, std::int64_t const* extents) {
        return graph::packed(graph::full(type, axes, extents, 0, 0));
      },
      given...);
}
template <class T, class... A, class... Given> [[nodiscard]] auto ones(Given const&... given) {
  return detail::create<"ones", detail::makes::all, T, A...>(
      [](dtype type, graph::axes_view axes, std::int64_t const* extents) {
        return graph::packed(graph::full(type, axes, extents, 1, 1));
      },
      given...);
}

/// A tensor with the elements of a span, in row-major order, copied.
///   Errors  another number of elements than the axes have: shape_error
template <class T, class... A, class... Given>
[[nodiscard]] auto from(std::span<T const> values, Given const&... given) {
  return detail::create<"from", detail::makes::all, T, A...>(
      [&](dtype type, graph::axes_view axes, std::int64_t const* extents) {
        return detail::copy_into_leaf(type, axes, extents, values.data(),
                                      static_cast<std::int64_t>(values.size()));
      },
      given...);
}
/// As above, the values in braces: from<f32, Row>({1, 2, 3}, Row{3}).
template <class T, class... A, class... Given>
[[nodiscard]] auto from(std::initializer_list<T> values, Given const&... given) {
  return from<T, A...>(std::span<T const>(values.begin(), values.size()), given...);
}

/// Anything else: refused.
template <class T, class... A, class V, class... Given>
  requires(!std::convertible_to<V const&, std::span<T const>> &&
           !detail::same<V, std::initializer_list<T>>)
[[nodiscard]] auto from(V const&, Given const&...) {
  detail::refuse_by<detail::values_rule<T>>();
  return poisoned{};
}

/// Would zeros<T, A...>(given...), with values of the axes Given..., make a tensor? The same for
/// ones, full and from.
template <class T, class Axes, class... Given> inline constexpr bool zeros_ok =
    detail::keeps<detail::creation_rule<"zeros", detail::makes::all, T, Axes, Given...>>;

struct iota_op {};

/// 0, 1, 2, ... along an axis.
template <class T, class A, class... Given> [[nodiscard]] auto iota(Given const&... given) {
  using rule = detail::creation_rule<"iota", detail::makes::numbers, T, pack<A>, Given...>;
  if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    std::int64_t extents[1]{};
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
    return poisoned{};
  } else {
    return graph::extents(
        x.handle())[detail::find_axis(detail::axes_of_value<X>(), &axis_info_of<A>)];
  }
}

}  // namespace ricci
