#pragma once

#include <ricci/axis/fixed_string.hpp>

#include <concepts>
#include <cstdint>

namespace ricci {
namespace detail {
/// A name that a pattern can spell: [a-z_][a-z0-9_]* followed by any number of '.
constexpr bool is_axis_name(std::string_view name) {
  std::size_t size = name.size();
  while (size > 0 && name[size - 1] == '\'') --size;
  for (std::size_t i = 0; i < size; ++i) {
    bool const letter = (name[i] >= 'a' && name[i] <= 'z') || name[i] == '_';
    if (!letter && (i == 0 || name[i] < '0' || name[i] > '9')) return false;
  }
  return size > 0;
}
}  // namespace detail

/// The static extent of an axis whose extent is known at run time only.
inline constexpr std::int64_t dynamic_extent = -1;

namespace detail {
struct axis_base {};
}  // namespace detail

/// Base of every axis: `struct Hidden : axis<"hidden", 64> {};`. A value of the derived type is a
/// run-time extent or a position along the axis: `Batch{32}`.
///   Errors  a position of floating type does not compile
template <fixed_string Name, std::int64_t Extent = dynamic_extent> struct axis : detail::axis_base {
  static_assert(detail::is_axis_name(Name), "axis: a name is of small letters, digits and `_`, a letter or `_` first");
  static_assert(Extent >= dynamic_extent, "axis: an extent is not negative");
  static constexpr auto name = Name;
  static constexpr std::int64_t static_extent = Extent;

  std::int64_t value;

  template <std::integral I> constexpr axis(I position) : value(static_cast<std::int64_t>(position)) {}
};

/// Any type derived from `axis`.
template <class A>
concept Axis = __is_base_of(detail::axis_base, A);

/// A second axis of the same extent, written `hidden'` in a pattern; `prime<prime<A>>` is `a''`.
template <Axis A> struct prime : axis<A::name + "'", A::static_extent> {
  using axis<A::name + "'", A::static_extent>::axis;
};

namespace detail {

/// A number that stands for a type: FNV-1a over its spelling. Constant expressions compare it where
/// the address of a description would do at run time: g++ does not compare addresses of inline
/// variables under -fsanitize=undefined.
template <class T> consteval std::uint64_t type_number() {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char const* at = __PRETTY_FUNCTION__; *at != '\0'; ++at)
    hash = (hash ^ static_cast<unsigned char>(*at)) * 0x100000001b3u;
  return hash;
}

}  // namespace detail

/// What the untyped layers know of an axis. One object a type, so at run time its address stands for it.
struct axis_info {
  char const* name;
  int name_size;
  std::int64_t extent;  // dynamic_extent where it is not static
  std::uint64_t type;   // stands for the axis's type

  constexpr std::string_view view() const {
    return {name, static_cast<std::size_t>(name_size)};
  }
};

/// The description of axis A; one object a type, in the whole program.
template <Axis A>
inline constexpr axis_info axis_info_of{A::name.chars, static_cast<int>(A::name.size()),
                                        A::static_extent, detail::type_number<A>()};

/// Stands where there is no axis; constant expressions do not ask an address whether it is null.
inline constexpr axis_info no_axis{"", 0, dynamic_extent, 0};

/// Are two descriptions of one axis type?
constexpr bool is_same_axis(axis_info const* a, axis_info const* b) { return a->type == b->type; }

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
