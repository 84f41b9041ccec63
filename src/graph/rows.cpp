#include "src/graph/rows.hpp"

namespace ricci::graph {

bool is_result_free(handle const& x) {
  if (x->references.load() != 1) return false;
  if (x->computed_by == kind::operation) return x->how && !x->how->needs_result();
  return x->computed_by == kind::pointwise && !vjp_needs_result(x->op);
}

void allocate_over(value& y, handle const& x) {
  value const& from = *x.get();
  bool const is_free = from.references.load() == 1 && (from.levels == 0 || is_result_free(x));
  if (y.levels == 0 && is_free && from.type == y.type && from.storage.is_unique() &&
      !from.storage.is_borrowed() && from.data == from.storage.data() &&
      from.storage.bytes() == y.count * size_of(y.type)) {
    y.storage = from.storage;
    y.storage.set_role(allocation_role::current());
    y.data = from.data;
    set_packed_strides(y);
    return;
  }
  allocate(y);
}

index_error naming_axis(index_error const& fault, axis_info const* axis, handle const* operands,
                        int count) {
  std::string text = fault.what();
  if (!text.empty() && text.back() == '.') text.pop_back();
  return index_error(text + "; the axis is `" + std::string(axis->view()) + "`" +
                     shapes_text(operands, count));
}

handle with_axis_last(handle const& x, int axis) {
  int const rank = x->rank;
  if (axis == rank - 1) return x;
  axis_info const* axes[max_rank];
  std::int8_t permutation[max_rank];
  for (int i = 0; i < rank; ++i) {
    int const from = i == rank - 1 ? axis : (i < axis ? i : i + 1);
    permutation[i] = static_cast<std::int8_t>(from);
    axes[i] = x->axes[from];
  }
  return permute(x, intern(axes, rank), permutation);
}

handle with_last_axis_at(handle const& x, axes_view axes, int axis) {
  if (axis == axes.rank - 1) return x;
  std::int8_t permutation[max_rank];
  for (int i = 0; i < axes.rank; ++i)
    permutation[i] = static_cast<std::int8_t>(i == axis ? axes.rank - 1 : (i < axis ? i : i - 1));
  return permute(x, axes, permutation);
}

axes_view axes_without(value const& v, int axis) {
  axis_info const* axes[max_rank];
  for (int i = 0; i + 1 < v.rank; ++i) axes[i] = v.axes[i < axis ? i : i + 1];
  return intern(axes, v.rank - 1);
}

handle sum_along(handle const& x, int axis) {
  return reduce(reduction::sum, x, axes_without(*x.get(), axis), std::uint32_t{1} << axis, x->type);
}

handle zeros_like(handle const& x) { return full(x->type, x->axes_of(), x->extents, 0, 0); }

}  // namespace ricci::graph
