#pragma once

#include "kernels/copy/box_plan.hpp"

/// Private to kernels/copy: the loops inside a box.
namespace ricci::kernels {

/// The two axes of a box that a kernel loops over, and the run that it moves whole.
struct box_rows {
  std::int64_t outer = 1, inner = 1;  // extents
  std::int64_t outer_target = 0, outer_source = 0;
  std::int64_t inner_target = 0, inner_source = 0;  // strides, bytes
  std::int64_t run = 0;                             // bytes
};

/// Copies boxes of a plan: chooses a kernel once, by the strides.
///   Invariant  the plan outlives it
class box_copy {
 public:
  explicit box_copy(box_plan const& plan);

  /// Do source and target run along different axes, so that every line of one meets many of the
  /// other?
  bool transposes() const { return transposes_; }

  /// Copies the box of those extents, at most the plan's blocks.
  void operator()(char* target, char const* source, std::int64_t const* extents) const;

 private:
  using kernel = void (*)(box_rows const&, char* target, char const* source);

  box_plan const& plan_;
  kernel kernel_;
  int run_;         // axes of the plan from here on are one run
  int inner_ = -1;  // axes of the plan, -1: none
  int outer_ = -1;
  bool transposes_ = false;
  bool flips_outer_ = false;  // the outer axis runs backwards, so that its source runs forwards
  int others_ = 0;
  int other_[max_copy_rank];
};

}  // namespace ricci::kernels
