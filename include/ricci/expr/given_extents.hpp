#pragma once

#include <ricci/expr/places.hpp>

/// Extents that a call gets by value: `zeros<f32, Batch, Hidden>(Batch{8})`.
namespace ricci::detail {

/// Throws shape_error for an extent that was given by value and is negative.
void check_given(char const* who, axis_info const* axis, std::int64_t extent);

/// Every dynamic axis of `axes` is given once, a static one not at all.
constexpr bool extents_given(std::string_view who, axes_list const& axes, axes_list const& given,
                             message* why) {
  for (int i = 0; i < given.rank; ++i) {
    int const place = find_axis(axes, given.axes[i]);
    bool const twice = find_axis({given.axes, i}, given.axes[i]) >= 0;
    if (place >= 0 && !twice && given.axes[i]->extent < 0) continue;
    if (!why) return false;
    if (place < 0) {
      if (write_name_clash(*why, who, axes, {"the tensor"}, {given.axes + i, 1},
                           {"the extents given"}))
        return false;
      *why << who << ": an extent is given for axis ";
      why->quote(given.axes[i]->view()) << ", which the tensor has not";
      write_has(*why, axes);
      suggest(*why, given.axes[i]->view(), axes);
    } else if (twice) {
      *why << who << ": the extent of axis ";
      why->quote(given.axes[i]->view()) << " is given twice";
    } else {
      *why << who << ": axis ";
      why->quote(given.axes[i]->view())
          << " has the static extent " << given.axes[i]->extent << ": it is not given by value";
    }
    return false;
  }
  for (int i = 0; i < axes.rank; ++i) {
    if (axes.axes[i]->extent >= 0 || find_axis(given, axes.axes[i]) >= 0) continue;
    if (why) {
      *why << who << ": the extent of axis ";
      why->quote(axes.axes[i]->view())
          << " is not given: it is dynamic, give it by value at the end";
    }
    return false;
  }
  return true;
}

/// Which axes want an extent by value: `batch{...}, seq{...}`.
constexpr void write_wanted(message& m, axes_list const& axes) {
  int count = 0;
  for (int i = 0; i < axes.rank; ++i) {
    if (axes.axes[i]->extent >= 0) continue;
    if (count++ > 0) m << ", ";
    m << axes.axes[i]->view() << "{...}";
  }
  if (count == 0) m << "none is wanted here, the axes are static";
}

/// The axes that a call makes (a pack), and the extents that it gives.
template <fixed_string Who, class Axes, class... Given> struct extents_rule {
  static constexpr bool check(message* why) {
    if constexpr (!all_axes<Axes>) {
      if (why) *why << Who.view() << ": a type in < > is not an axis";
      return false;
    } else if constexpr (!(is_axis<Given> && ...)) {
      if (why) {
        *why << Who.view() << ": an extent is given as an axis value: ";
        write_wanted(*why, axes_in<Axes>);
      }
      return false;
    } else {
      return axes_fit(Who.view(), axes_in<Axes>, why) &&
             extents_given(Who.view(), axes_in<Axes>, axes_in<pack<Given...>>, why);
    }
  }
};

/// The extents of axes A..., the dynamic ones out of `given`.
template <class... A, class... Given>
void fill_extents(pack<A...>, std::int64_t* extents, Given const&... given) {
  axis_info const* const axes[] = {&axis_info_of<A>..., nullptr};
  axis_info const* const infos[] = {&axis_info_of<Given>..., nullptr};
  std::int64_t const values[] = {given.value..., 0};
  for (int i = 0; i < static_cast<int>(sizeof...(A)); ++i) {
    extents[i] = axes[i]->extent;
    for (int j = 0; j < static_cast<int>(sizeof...(Given)); ++j)
      if (infos[j] == axes[i]) extents[i] = values[j];
  }
}

}  // namespace ricci::detail
