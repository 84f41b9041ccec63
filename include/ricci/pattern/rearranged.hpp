#pragma once

#include <ricci/tensor/layout.hpp>
#include <ricci/tensor/pattern_spec.hpp>

namespace ricci::detail {

/// Where a rearrangement of a view ends: its layout, or the pair of axes that keeps it from being a
/// view.
struct rearrangement {
  bool is_view = true;
  layout result;
  int axis = 0;        // the result axis whose factors do not merge
  int slower = 0;      // index ids: `slower` and `faster` stand next to each other in the result
  int faster = 0;      // axis and are not adjacent in memory
};

/// Follows one operand through its splits, the permutation and the merges of the result.
///   @pre  spec has one operand of l.rank axes, every index of it stands in the result
constexpr rearrangement rearranged(graph::pattern_spec const& spec, layout l) {
  rearrangement r;
  // Splits: elementary axis i of the split operand has index id order[i].
  std::int8_t order[graph::max_indices]{};
  int at = 1;
  int elementary = 0;
  int const rank = spec.code[0];
  for (int axis = 0; axis < rank; ++axis) {
    int const n = spec.code[at++];
    if (elementary + n > max_rank) {
      r.is_view = false;
      return r;
    }
    if (n > 1) l = split(l, elementary, n);
    for (int i = 0; i < n; ++i) order[elementary++] = spec.code[at++];
  }
  // The permutation into the result's order of indices.
  std::int8_t permutation[max_rank]{};
  int const result = at;
  int const result_rank = spec.code[at++];
  int place = 0;
  for (int axis = 0; axis < result_rank; ++axis) {
    int const n = spec.code[at++];
    for (int i = 0; i < n; ++i) {
      int const id = spec.code[at++];
      for (int j = 0; j < elementary; ++j)
        if (order[j] == id) permutation[place] = static_cast<std::int8_t>(j);
      ++place;
    }
  }
  l = permuted(l, permutation);
  // The merges, from the last axis on so that earlier places stay valid.
  std::int8_t starts[max_rank]{};
  at = result + 1;
  place = 0;
  for (int axis = 0; axis < result_rank; ++axis) {
    starts[axis] = static_cast<std::int8_t>(place);
    place += spec.code[at];
    at += spec.code[at] + 1;
  }
  for (int axis = result_rank - 1; axis >= 0; --axis) {
    int const n = (axis + 1 < result_rank ? starts[axis + 1] : place) - starts[axis];
    for (int i = 0; i + 1 < n; ++i) {
      if (can_merge(l, starts[axis] + i, starts[axis] + i + 1)) continue;
      r.is_view = false;
      r.axis = axis;
      r.slower = order[permutation[starts[axis] + i]];
      r.faster = order[permutation[starts[axis] + i + 1]];
      return r;
    }
    if (n > 1) {
      l = merge(l, starts[axis], n);
      place -= n - 1;
    }
  }
  r.result = l;
  return r;
}

}  // namespace ricci::detail
