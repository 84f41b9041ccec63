#pragma once

#include "src/graph/value.hpp"

/// Private to src/graph: moving elements between views.
namespace ricci::graph {

/// to = from, place by place; the same extents and dtype, any strides of which no two places of
/// `to` share an element.
void copy_strided(value const& to, value const& from);

/// The same by plain data; strides in elements.
void copy_strided(dtype type, int rank, std::int64_t const* extents, void* to,
                  std::int64_t const* to_strides, void const* from,
                  std::int64_t const* from_strides);

/// All of a freshly allocated value becomes zero.
void fill_zero(value& v);

}  // namespace ricci::graph
