#pragma once

#include <ricci/tensor/node_rules.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>

namespace ricci {
namespace detail {
std::string shape_text(axis_info const* const* axes, std::int64_t const* extents, int rank);
std::ostream& print_shape(std::ostream& out, axis_info const* const* axes,
                          std::int64_t const* extents, int rank);
}  // namespace detail

/// The extents of a tensor, by axis. Prints as `[batch 8, seq 128]`.
template <class... A> struct shape {
  static constexpr int rank = sizeof...(A);
  std::int64_t extents[sizeof...(A) + 1]{};

  /// The extent of one axis.
  ///   Errors  an axis that the shape does not have (compile time)
  template <class Of> constexpr std::int64_t extent() const {
    using rule = detail::shape_axis_rule<Of, A...>;
    if constexpr (!detail::keeps<rule>) {
      detail::refuse_by<rule>();
      return 0;
    } else {
      return extents[detail::place_in<Of>(pack<A...>{})];
    }
  }
  constexpr std::int64_t element_count() const {
    std::int64_t count = 1;
    for (int i = 0; i < rank; ++i) count *= extents[i];
    return count;
  }
  friend constexpr bool operator==(shape const&, shape const&) = default;
  friend std::ostream& operator<<(std::ostream& out, shape const& s) {
    return detail::print_shape(out, detail::axis_list<A...>, s.extents, rank);
  }
};

}  // namespace ricci
