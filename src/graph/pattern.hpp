#pragma once

#include <cstdint>

#include "src/graph/value.hpp"

/// Private to src/graph: patterns whose extents are known.
namespace ricci::graph {

/// The axes of one operand or of the result.
using pattern_group = indexed_axes;

/// Reads the groups of a spec, operands first, the result last: `operands + 1` of them.
void read_groups(pattern_spec const& spec, pattern_group* groups);

/// The extent of every index. Errors (shape_error): two extents of one index, a split that does not
/// divide, an extent that nothing tells, a result axis of another static extent.
void resolve_extents(pattern_spec const& spec, pattern_group const* groups, axes_view result,
                     handle const* operands, std::int64_t const* given, std::int64_t* extents);

/// The extents of a group's axes: the products of their factors.
void group_extents(pattern_group const& group, std::int64_t const* index_extents,
                   std::int64_t* extents);

/// An evaluated value seen by index: split axes taken apart, a repeated index as its diagonal.
struct index_view {
  void* data = nullptr;
  int rank = 0;
  std::int8_t ids[max_indices];
  std::int64_t strides[max_indices];
  bool has_order = false;  // false: more than max_rank indices, nothing is known of the order
  layout order;
};
index_view view_by_index(value const& x, pattern_group const& group,
                         std::int64_t const* index_extents);

}  // namespace ricci::graph
