#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/copy/copy.hpp"
#include "kernels/parallel/parallel.hpp"

/// Private to kernels/copy: the order in which a strided pass visits its places.
namespace ricci::kernels {

/// One axis of a pass. Strides in bytes.
struct box_axis {
  std::int64_t extent;
  std::int64_t block;   // of the extent that a box holds
  std::int64_t target;  // > 0
  std::int64_t source;
};

/// A pass over strided places as boxes that fit the nearest cache on both sides.
///   Invariant  rank axes of extent >= 2, target strides descending, none of which continues its
///              neighbour on both sides; no axis at all is one element
///   Invariant  a box holds lines of the source and of the target whole, as far as the extents let
struct box_plan {
  int rank = 0;
  bool is_empty = false;
  std::int64_t element_size = 0;
  std::int64_t count = 1;  // elements
  char* target = nullptr;
  char const* source = nullptr;
  box_axis axes[max_copy_rank];

  /// The first axis of those that are one contiguous run on both sides in every box; rank: none.
  int run_begin() const;
  /// The axis below `end` along which the source is nearest to contiguous; -1 if it stands still.
  int nearest_source_axis(int end) const;
};

/// Checks, sorts, merges; block is not yet set.
///   Errors  those of `copy`
box_plan plan_boxes(char const* who, std::int64_t element_size, int rank,
                    std::int64_t const* extents, void* target, std::int64_t const* target_strides,
                    void const* source, std::int64_t const* source_strides);

/// What a box holds contiguously, in bytes, if the extents let.
struct box_shape {
  std::int64_t target;  // along the target's nearest axes
  std::int64_t source;  // along the source's nearest axes
  std::int64_t run;     // at most, of what both hold contiguously
};

/// Sets the blocks; a small pass is one box.
void choose_blocks(box_plan& plan, box_shape const& shape);

/// Divides the pass in two through a packed box at hand: from the source into it, and from it to
/// the target, each side in the order that it likes.
///   Value   the strides of `plan` on one side, those of the packed box on the other
///   Axes    packed in the order of the target, by the blocks, with gaps
box_plan into_packed(box_plan const& plan);
box_plan from_packed(box_plan const& plan);

/// Bytes that a whole box of into_packed takes.
std::int64_t packed_size(box_plan const& into);

/// A box: where it begins, and its extents along the axes of the plan.
struct box {
  char* target;
  char const* source;
  std::int64_t const* extents;  // [rank]
};

/// Calls body(box) for every box, on all threads when the pass is large; each box once.
void for_each_box(box_plan const& plan, function_ref<void(box const&)> body);

}  // namespace ricci::kernels
