#pragma once

#include <memory>

#include <ricci/error/exceptions.hpp>

#include "src/graph/compose.hpp"
#include "src/graph/gradient.hpp"
#include "src/graph/value.hpp"

/// Private to src/graph: what operations with a kernel of their own share.
namespace ricci::graph {

/// x as [outer, extent of the axis, inner], packed.
struct axis_lines {
  std::int64_t outer = 1;
  std::int64_t extent;
  std::int64_t inner = 1;

  axis_lines(value const& x, int axis) : extent(x.extents[axis]) {
    for (int i = 0; i < axis; ++i) outer *= x.extents[i];
    for (int i = axis + 1; i < x.rank; ++i) inner *= x.extents[i];
  }
};

/// Storage for y: that of x where nobody else will ask for x, else new.
///   @pre  x is packed, y has its extents, and the kernel may write over x
void allocate_over(value& y, handle const& x);

/// In a rule of the only value that takes x: will nobody ask for the elements of x any more?
/// @pre  the rule itself is done with x once the gradient stands in its place
bool is_result_free(handle const& x);

/// An evaluated operand as kernels want it: packed, a copy where it is not. None is null.
class packed_operand {
 public:
  explicit packed_operand(handle const& x) : original_(x) {
    if (x && !is_packed(x->order)) copy_ = copied(x);
  }
  void const* data() const {
    if (copy_) return copy_->data;
    return original_ ? original_->data : nullptr;
  }
  /// Storage for a result that may stand in the place of this operand.
  void allocate_result(value& y) const { allocate_over(y, copy_ ? copy_ : original_); }

 private:
  handle const& original_;
  handle copy_;
};

/// What a kernel says of a position outside its axis, with the axis and the shapes it cannot know.
index_error naming_axis(index_error const& fault, axis_info const* axis, handle const* operands,
                        int count);

/// Would values computed from these record how?
template <class... Handles> bool is_recorded(Handles const&... x) {
  return ((x ? x->levels : 0) | ... | 0) & ~suppressed_levels();
}

/// A gradient that nobody differentiates further, from a kernel. Lazy, so that it joins sums.
template <class Compute> struct kernel_gradient final : operation {
  explicit kernel_gradient(Compute compute) : run(std::move(compute)) {}
  Compute run;
  void compute(value& y) const override { run(y); }
  void vjp(value&, handle const&, gradient_sink&) const override {}
};
template <class Compute> handle gradient_by_kernel(handle const& like, Compute compute,
                                                   std::initializer_list<handle> inputs) {
  handle in[value::small_inputs + 5];
  int count = 0;
  for (handle const& x : inputs) in[count++] = x;
  return new_operation(like->type, like->axes_of(), like->extents, "gradient",
                       std::make_unique<kernel_gradient<Compute>>(std::move(compute)), in, count);
}

/// Kernels compute in f32 or f64 from f16, bf16, f32, f64: the dtype to convert others to.
inline dtype kernel_dtype(dtype type) {
  return type == dtype::f8_e4m3 || type == dtype::f8_e5m2 ? dtype::f32 : type;
}
/// f32 for the narrow floats, f64 for f64: what kernels keep statistics in.
inline dtype statistics_dtype(dtype type) { return type == dtype::f64 ? dtype::f64 : dtype::f32; }

/// x with `axis` last, lazily; and back.
handle with_axis_last(handle const& x, int axis);
handle with_last_axis_at(handle const& x, axes_view axes, int axis);

}  // namespace ricci::graph
