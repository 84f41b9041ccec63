#pragma once

#include "kernels/copy/box_plan.hpp"
#include "kernels/copy/box_rows.hpp"

/// Private to kernels/copy: the loops inside a box.
namespace ricci::kernels {

/// Visits the places of boxes of a plan: copies them, with a kernel chosen once by the strides, or
/// does to them what another kernel does.
///   Invariant  the plan outlives it
class box_copy {
 public:
  /// Called for every pair of inner and outer axis: rows.run bytes at each place of the two, of
  /// which only the last box of an axis may have fewer.
  using kernel = void (*)(box_rows const& rows, char* target, char const* source);

  /// streams: the target is too large for the caches, and passes them by where lines are whole.
  explicit box_copy(box_plan const& plan, bool streams = false);

  /// Another kernel than those that copy; it also serves plans without a run.
  box_copy(box_plan const& plan, kernel other);

  /// Do source and target run along different axes, so that every line of one meets many of the
  /// other?
  bool transposes() const { return transposes_; }

  /// Those axes: the target's nearest and the source's nearest; -1: none.
  int inner() const { return inner_; }
  int outer() const { return outer_; }

  /// Copies the box of those extents, at most the plan's blocks.
  void operator()(char* target, char const* source, std::int64_t const* extents) const;

 private:
  bool choose_axes();

  box_plan const& plan_;
  kernel kernel_ = nullptr;
  int run_;  // axes of the plan from here on are one run
  bool streams_ = false;
  int inner_ = -1;  // axes of the plan, -1: none
  int outer_ = -1;
  bool transposes_ = false;
  bool flips_outer_ = false;  // the outer axis runs backwards, so that its source runs forwards
  int others_ = 0;
  int other_[max_copy_rank];
};

}  // namespace ricci::kernels
