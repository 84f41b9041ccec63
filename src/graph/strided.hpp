#pragma once

#include "src/graph/value.hpp"

/// Private to src/graph: moving elements between views.
namespace ricci::graph {

/// to = from, place by place; the same extents and dtype, any strides of which no two places of
/// `to` share an element.
void copy_strided(value const& to, value const& from);

/// All of a freshly allocated value becomes zero.
void fill_zero(value& v);

}  // namespace ricci::graph
