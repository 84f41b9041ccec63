#include "src/graph/contraction.hpp"

#include <string>

#include <ricci/error/exceptions.hpp>

#include "kernels/copy/copy.hpp"
#include "src/graph/compose.hpp"
#include "src/graph/gradient.hpp"

namespace ricci::graph {
namespace {

// An index view as its extents too, in the words of exec.
struct exec_operand {
  std::int64_t extents[max_indices];
  std::int64_t strides[max_indices];
  std::uint8_t ids[max_indices];
  layout order;
  exec::contraction_operand operand;

  exec_operand(index_view const& view, dtype type, std::int64_t const* index_extents) {
    for (int i = 0; i < view.rank; ++i) {
      ids[i] = static_cast<std::uint8_t>(view.ids[i]);
      extents[i] = index_extents[view.ids[i]];
      strides[i] = view.strides[i];
    }
    order = view.order;
    operand = {
        view.data, type, view.rank, extents, strides, ids, view.has_order ? &order : nullptr};
  }
  exec_operand(exec_operand const&) = delete;
};

void note(exec::contraction_report const& report) {
  counters& c = count();
  c.gemms += report.gemms;
  c.gemm_calls += report.gemms * report.batch;
  c.small_contractions += report.loops;
  c.packs += report.packs;
}

// The distinct indices of a group that `present` has, in order.
int distinct(pattern_group const& group, std::uint32_t present, std::uint8_t* ids) {
  int rank = 0;
  for (int i = 0; i < group.size(); ++i)
    if (present >> group.ids[i] & 1) {
      ids[rank++] = static_cast<std::uint8_t>(group.ids[i]);
      present &= ~(std::uint32_t{1} << group.ids[i]);
    }
  return rank;
}

// y, packed, seen by the indices of `group`; one that stands twice has the sum of its strides.
index_view packed_view(value const& y, pattern_group const& group,
                       std::int64_t const* index_extents) {
  index_view view;
  view.data = y.data;
  view.rank = 0;
  std::int64_t stride = 1;
  for (int i = group.size() - 1; i >= 0; --i) {
    int at = 0;
    while (at < view.rank && view.ids[at] != group.ids[i]) ++at;
    if (at == view.rank) {
      view.ids[view.rank] = group.ids[i];
      view.strides[view.rank++] = 0;
    }
    view.strides[at] += stride;
    stride *= index_extents[group.ids[i]];
  }
  return view;
}

// Copies `from`, which may lack indices, to the places of `to`.
void copy_by_index(index_view const& to, index_view const& from, std::int64_t const* index_extents,
                   dtype type) {
  std::int64_t extents[max_indices];
  std::int64_t to_strides[max_indices];
  std::int64_t from_strides[max_indices];
  int const rank = to.rank;
  // `to` runs from the fastest index on.
  for (int i = 0; i < rank; ++i) {
    int const out = rank - 1 - i;
    extents[out] = index_extents[to.ids[i]];
    to_strides[out] = to.strides[i];
    from_strides[out] = 0;
    for (int k = 0; k < from.rank; ++k)
      if (from.ids[k] == to.ids[i]) from_strides[out] = from.strides[k];
  }
  kernels::copy(size_of(type), rank, extents, to.data, to_strides, from.data, from_strides);
}

// Makes y a view of `from`, where every merge that its axes need is one of the layout.
bool look(value& y, index_view const& from, pattern_group const& result, value const& owner) {
  if (!from.has_order || result.size() > max_rank) return false;
  int const missing = result.size() - from.rank;
  layout order = broadcast_front(from.order, missing);
  std::int8_t source[max_rank];
  int fresh = 0;
  std::int64_t strides[max_rank];
  for (int i = 0; i < result.size(); ++i) {
    int at = 0;
    while (at < from.rank && from.ids[at] != result.ids[i]) ++at;
    source[i] = static_cast<std::int8_t>(at < from.rank ? missing + at : fresh++);
    strides[i] = at < from.rank ? from.strides[at] : 0;
  }
  order = permuted(order, source);
  for (int axis = result.rank - 1; axis >= 0; --axis) {
    int const first = result.begin[axis];
    int const parts = result.begin[axis + 1] - first;
    for (int i = first; i + 1 < first + parts; ++i)
      if (!can_merge(order, i, i + 1)) return false;
    order = merge(order, first, parts);
  }
  for (int axis = 0; axis < result.rank; ++axis)
    y.strides[axis] = strides[result.begin[axis + 1] - 1];
  y.order = order;
  y.storage = owner.storage;
  y.data = from.data;
  return true;
}

bool has_all_distinct(pattern_group const& group) {
  return __builtin_popcount(group.mask()) == group.size();
}

}  // namespace

bool contraction_rule::takes_epilogue() const {
  return operands == 2 && has_all_distinct(result) &&
         (result.mask() & ~(group[0].mask() | group[1].mask())) == 0;
}

void contraction_rule::contract_into(value const& a, value const& b, value const& y,
                                     exec::contraction_epilogue const& epilogue) const {
  exec_operand const left(view_by_index(a, group[0], extent), a.type, extent);
  exec_operand const right(view_by_index(b, group[1], extent), b.type, extent);
  std::uint8_t ids[max_indices];
  std::int64_t extents[max_indices];
  int const rank = distinct(result, result.mask(), ids);
  for (int i = 0; i < rank; ++i) extents[i] = extent[ids[i]];
  note(exec::contract(left.operand, right.operand, {y.data, y.type, rank, extents, ids}, epilogue,
                      lowering));
}

bool contraction_rule::look_at(value& y, value const& a) const {
  std::uint32_t const present = group[0].mask();
  if (operands == 2 || !may_be_view || (present & ~result.mask()) != 0) return false;
  if (!has_all_distinct(result)) return false;
  return look(y, view_by_index(a, group[0], extent), result, a);
}

void contraction_rule::compute(value& y) const {
  value const& a = *y.inputs[0].get();
  if (takes_epilogue()) {
    allocate(y);
    contract_into(a, *y.inputs[1].get(), y, {});
    return;
  }
  std::uint32_t present = group[0].mask();
  if (operands == 2) present |= group[1].mask();
  bool const is_sum = operands == 2 || (present & ~result.mask()) != 0;
  bool const is_plain = has_all_distinct(result) && (result.mask() & ~present) == 0;
  index_view core = view_by_index(a, group[0], extent);
  handle owner = y.inputs[0];
  if (is_sum) {
    std::uint8_t ids[max_indices];
    std::int64_t extents[max_indices];
    int const rank = distinct(result, present, ids);
    axis_info const* axes[max_rank];
    for (int i = 0; i < rank; ++i) {
      extents[i] = extent[ids[i]];
      axes[i] = unnamed_axis(i);
    }
    void* to;
    if (is_plain) {
      allocate(y);
      to = y.data;
    } else {
      owner = make_leaf(y.type, intern(axes, rank), extents);
      to = owner->data;
    }
    exec_operand const left(core, a.type, extent);
    exec::contraction_result const target{to, y.type, rank, extents, ids};
    if (operands == 1) {
      note(exec::contract(left.operand, target));
    } else {
      value const& b = *y.inputs[1].get();
      exec_operand const right(view_by_index(b, group[1], extent), b.type, extent);
      note(exec::contract(left.operand, right.operand, target, {}, lowering));
    }
    if (is_plain) return;
    core.data = to;
    core.rank = rank;
    core.has_order = true;
    core.order = layout::packed(rank);
    std::int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      core.ids[i] = static_cast<std::int8_t>(ids[i]);
      core.strides[i] = stride;
      stride *= extents[i];
    }
  }
  if (may_be_view && has_all_distinct(result) && look(y, core, result, *owner.get())) return;
  allocate(y);
  if (!has_all_distinct(result)) kernels::zero(y.data, y.count * size_of(y.type));
  copy_by_index(packed_view(y, result, extent), core, extent, y.type);
  ++count().copies;
}

void contraction_rule::describe(statement_value& to, statement_contraction& contraction) const {
  to.kind = value_kind::contraction;
  contraction.operands = operands;
  contraction.may_be_view = may_be_view;
  contraction.forced = lowering;
  contraction.group[0] = group[0];
  if (operands == 2) contraction.group[1] = group[1];
  contraction.result = result;
  for (int id = 0; id < indices; ++id) contraction.extent[id] = extent[id];
}

void contraction_rule::vjp(value& y, handle const& dy, gradient_sink& sink) const {
  for (int which = 0; which < operands; ++which) {
    handle const& x = y.inputs[which];
    if (!sink.wants(x)) continue;
    auto rule = std::make_unique<contraction_rule>();
    rule->operands = operands;
    rule->indices = indices;
    rule->may_be_view = true;
    for (int id = 0; id < indices; ++id) rule->extent[id] = extent[id];
    rule->result = group[which];
    rule->group[which] = result;
    handle in[2];
    in[which] = dy;
    if (operands == 2) {
      rule->group[1 - which] = group[1 - which];
      in[1 - which] = y.inputs[1 - which];
    }
    sink.add(x, new_contraction("gradient", x->axes_of(), std::move(rule), in));
  }
}

handle new_contraction(char const* who, axes_view axes, std::unique_ptr<contraction_rule> rule,
                       handle* operands) {
  std::int64_t extents[max_rank];
  group_extents(rule->result, rule->extent, extents);
  int const count = rule->operands;
  dtype const type = operands[0]->type;
  return new_operation(type, axes, extents, who, std::move(rule), operands, count);
}

}  // namespace ricci::graph
