#pragma once

#include <ricci/axis/fixed_string.hpp>

#include <concepts>
#include <cstdint>

namespace ricci {

/// The static extent of an axis whose extent is known at run time only.
inline constexpr std::int64_t dynamic_extent = -1;

namespace detail {
struct axis_base {};
}  // namespace detail

/// Base of every axis: `struct Hidden : axis<"hidden", 64> {};`. A value of the derived type is a
/// run-time extent or a position along the axis: `Batch{32}`.
///   Errors  a position of floating type does not compile
template <fixed_string Name, std::int64_t Extent = dynamic_extent> struct axis : detail::axis_base {
  static_assert(Extent >= dynamic_extent, "axis: an extent is not negative");
  static constexpr auto name = Name;
  static constexpr std::int64_t static_extent = Extent;

  std::int64_t value;

  template <std::integral I> constexpr axis(I position) : value(static_cast<std::int64_t>(position)) {}
};

/// A second axis of the same extent, written `hidden'` in a pattern; `prime<prime<A>>` is `a''`.
template <class A> struct prime : axis<A::name + "'", A::static_extent> {
  using axis<A::name + "'", A::static_extent>::axis;
};

/// Any type derived from `axis`.
template <class A>
concept Axis = __is_base_of(detail::axis_base, A);

/// What the untyped layers know of an axis. Its address stands for the axis's type.
struct axis_info {
  char const* name;
  int name_size;
  std::int64_t extent;  // dynamic_extent where it is not static

  constexpr std::string_view view() const {
    return {name, static_cast<std::size_t>(name_size)};
  }
};

/// The description of axis A; one object a type, in the whole program.
template <Axis A>
inline constexpr axis_info axis_info_of{A::name.chars, static_cast<int>(A::name.size()),
                                        A::static_extent};

namespace detail {
/// The descriptions of several axes, in order (one element more, so that no axes are an array too).
template <Axis... A>
inline constexpr axis_info const* axis_list[sizeof...(A) + 1] = {&axis_info_of<A>..., nullptr};

/// Some axes, by their descriptions.
struct axes_list {
  axis_info const* const* axes = nullptr;
  int rank = 0;
};
}  // namespace detail

}  // namespace ricci
