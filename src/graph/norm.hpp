#pragma once

#include <string>

#include <ricci/error/exceptions.hpp>

#include "src/graph/rows.hpp"

/// Private to src/graph: what layer_norm and rms_norm share.
namespace ricci::graph {

/// The parameter that is not given.
inline handle const none;

/// y as [rows, width], the last axis being the width.
struct norm_rows {
  std::int64_t count = 1;
  std::int64_t width;

  explicit norm_rows(value const& y) : width(y.extents[y.rank - 1]) {
    for (int i = 0; i + 1 < y.rank; ++i) count *= y.extents[i];
  }
};

inline handle norm_result(handle const& like) {
  return make_leaf(like->type, like->axes_of(), like->extents);
}
inline void* data_or_null(handle const& x) { return x ? x->data : nullptr; }

inline handle mean_of_row(handle const& x) {
  int const last = x->rank - 1;
  return reduce(reduction::mean, x, axes_without(*x.get(), last), std::uint32_t{1} << last,
                x->type);
}

/// A parameter has the one axis that is normalized. `number` counts operands from 1.
inline void check_norm_parameter(char const* who, int number, handle const& x, int axis,
                                 handle const& parameter) {
  if (!parameter) return;
  value const& p = *parameter.get();
  std::string const name(x->axes[axis]->view());
  if (p.rank == 1 && p.axes[0] == x->axes[axis] && p.extents[0] == x->extents[axis]) return;
  std::string const other = "operand " + std::to_string(number);
  throw shape_error(std::string(who) + ": axis `" + name + "` has extent " +
                    std::to_string(x->extents[axis]) + " in operand 1" +
                    (p.rank == 1 && p.axes[0] == x->axes[axis]
                         ? " and " + std::to_string(p.extents[0]) + " in " + other
                         : " and is not the one axis of " + other) +
                    shapes_text(&x, 1) + ", " + other + " is " + shape_text(p));
}

}  // namespace ricci::graph
