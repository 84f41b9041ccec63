#pragma once

#include <ricci/plan/planner.hpp>

/// statement_planner: values and the operations that are no contractions (src/graph/evaluate.cpp,
/// reduce.cpp, join.cpp, rows.cpp and what uses it).
namespace ricci::detail {

constexpr void statement_planner::evaluate(int id) {
  if (is_evaluated(id)) return;
  switch (at(id).kind) {
    case value_kind::leaf:
      break;
    case value_kind::number: {
      plan_step& step = begin_step(step_kind::loop, id, id);
      live_.allocate(id);
      charge_write(step, places(id), at(id).type);
      end_step(step);
      break;
    }
    case value_kind::pointwise: {
      planned_region r;
      if (!prepare(r, id)) run_region(r, id);
      break;
    }
    default:
      compute(id);
  }
  live_.mark_evaluated(id);
}

constexpr void statement_planner::evaluate_inputs(int id) {
  for (int i = 0; i < at(id).inputs; ++i) evaluate(s_.input(id, i));
}

constexpr void statement_planner::compute(int id) {
  statement_value const& v = at(id);
  switch (v.kind) {
    case value_kind::view: {
      evaluate_inputs(id);
      int const x = s_.input(id, 0);
      plan_step& step = begin_step(step_kind::view, id, id);
      read(step, x);
      live_.share(id, x);
      live_.v[id].order = statement_builder::viewed(v, live_.v[x].order);
      if (static_cast<view_step>(v.op) == view_step::reverse && s_.extent(id, v.axis) > 1)
        live_.v[id].is_whole = false;
      end_step(step);
      break;
    }
    case value_kind::contraction:
      evaluate_inputs(id);
      contract(id);
      break;
    case value_kind::reduction:
      reduce(id);
      break;
    case value_kind::cumsum: {
      evaluate_inputs(id);
      plan_step& step = begin_step(step_kind::reduction, id, id);
      live_.allocate(id);
      reads_value(step, s_.input(id, 0));
      charge(step, operations_of(v.kind, 0), places(id));
      charge_write(step, places(id), v.type);
      end_step(step);
      break;
    }
    case value_kind::join: {
      evaluate_inputs(id);
      plan_step& step = begin_step(step_kind::copy, id, id);
      live_.allocate(id);
      for (int i = 0; i < v.inputs; ++i) reads_value(step, s_.input(id, i));
      charge_write(step, places(id), v.type);
      end_step(step);
      break;
    }
    case value_kind::attention:
      evaluate_inputs(id);
      run_attention(id);
      break;
    default:
      evaluate_inputs(id);
      run_kernel(id);
  }
}

constexpr void statement_planner::reduce(int id) {
  statement_value const& v = at(id);
  int const x = s_.input(id, 0);
  // 0 is sum, 1 is mean: their gradients ask for no elements of x.
  bool const needs_x = v.op > 1;
  bool const fuses = is_open(x) && references(x) == 1 && !(v.is_recorded && needs_x);
  if (!fuses) evaluate(x);
  planned_region r;
  bool const is_fused = !is_evaluated(x) && !prepare(r, x);
  plan_step& step = begin_step(step_kind::reduction, id, id);
  if (is_fused) {
    note_fused(step, r);
    for (int i = 0; i < r.source_count; ++i) reads_value(step, r.sources[i].value);
  } else {
    reads_value(step, x);
  }
  live_.allocate(id);
  charge(step, operations_of(v.kind, 0), places(x));
  charge_write(step, places(id), v.type);
  end_step(step);
}

// The bytes of a packed copy of an operand, where it is not packed.
constexpr std::int64_t statement_planner::pack_operand(int id, int origin) {
  if (is_packed(live_.v[id].order)) return 0;
  std::int64_t const bytes = live_.bytes_of(id);
  live_.take_recent_peak();
  live_.add(bytes);
  copy_step(step_kind::copy, id, origin, id, elements(id), bytes);
  return bytes;
}

constexpr bool statement_planner::is_result_free(int x) const {
  if (references(x) != 1) return false;
  statement_value const& v = at(x);
  switch (v.kind) {
    case value_kind::contraction:
    case value_kind::cumsum:
      return true;
    case value_kind::reduction:
      return v.op <= 1;
    case value_kind::pointwise:
      switch (static_cast<opcode>(v.op)) {
        case opcode::reciprocal:
        case opcode::sqrt:
        case opcode::rsqrt:
        case opcode::exp:
        case opcode::tanh:
        case opcode::sigmoid:
        case opcode::relu:
        case opcode::divide:
        case opcode::power:
          return false;
        default:
          return true;
      }
    default:
      return false;
  }
}

constexpr void statement_planner::allocate_over(int y, int x) {
  bool const is_free = references(x) == 1 && (!at(x).is_recorded || is_result_free(x));
  if (!at(y).is_recorded && is_free && at(x).type == at(y).type && live_.is_sole_owner(x))
    live_.take_over(y, x);
  else
    live_.allocate(y);
}

// The dtype that kernels keep statistics in.
constexpr std::int64_t statistics_size(dtype type) { return type == dtype::f64 ? 8 : 4; }

constexpr void statement_planner::run_kernel(int id) {
  statement_value const& v = at(id);
  std::int64_t copies = 0;
  std::int64_t first_copy = 0;
  for (int i = 0; v.kind != value_kind::other && i < v.inputs; ++i) {
    std::int64_t const bytes = pack_operand(s_.input(id, i), id);
    copies = saturating_sum(copies, bytes);
    if (i == 0) first_copy = bytes;
  }
  plan_step& step = begin_step(step_kind::kernel, id, id);
  int const x = v.inputs > 0 ? s_.input(id, 0) : id;
  std::int64_t statistics = 0;
  switch (v.kind) {
    case value_kind::softmax:
    case value_kind::log_softmax:
    case value_kind::layer_norm:
    case value_kind::rms_norm: {
      if (v.is_recorded && (v.kind == value_kind::layer_norm || v.kind == value_kind::rms_norm)) {
        std::int64_t const width = s_.extent(id, v.rank - 1);
        std::int64_t const rows = width == 0 ? 0 : v.count / width;
        live_.add((v.kind == value_kind::layer_norm ? 2 : 1) * rows * statistics_size(v.type));
      }
      // A copy is nobody else's: the result stands in its place.
      if (first_copy > 0 && !v.is_recorded) {
        live_.allocate(id, true);
        copies -= first_copy;
      } else if (first_copy > 0) {
        live_.allocate(id);
      } else {
        allocate_over(id, x);
      }
      break;
    }
    case value_kind::cross_entropy:
      live_.allocate(id);
      statistics = saturating_product(v.count, statistics_size(v.type));
      live_.add(statistics);
      break;
    default:
      live_.allocate(id);
  }
  for (int i = 0; i < v.inputs; ++i) {
    int const in = s_.input(id, i);
    // Of a table the rows that are taken.
    if (v.kind == value_kind::take && i == 0) {
      read(step, in);
      charge_read(step, places(id), v.type);
    } else {
      reads_value(step, in);
    }
  }
  charge(step, operations_of(v.kind, v.inputs - 1), places(x));
  charge_write(step, places(id), v.type);
  step.temporary_bytes = statistics;
  if (!v.is_recorded) live_.remove(statistics);
  live_.remove(copies);
  end_step(step);
}

// [b..., seq, head_dim]: is head_dim dense, are all but the last batch axes one?
constexpr bool statement_planner::is_attention_input(int id) const {
  statement_value const& v = at(id);
  layout known = live_.v[id].order;
  int const last = v.rank - 3;
  int const features = v.rank - 1;
  bool const is_unit = known.ordered > 0 && known.axis_at(known.ordered - 1) == features &&
                       known.link_of(features) == link::dense;
  if (s_.extent(id, features) > 1 && !is_unit) return false;
  for (int i = last - 2; i >= 0; --i)
    if (!can_merge(known, i, i + 1)) return false;
  return true;
}

constexpr void statement_planner::allocate_like(int y, int x) {
  layout const& known = live_.v[x].order;
  int const rank = at(x).rank;
  bool const is_ordered = known.ordered == rank && known.axis_at(rank - 1) == rank - 1;
  live_.allocate(y);
  if (!is_ordered) return;
  std::int8_t place[max_rank] = {};
  for (int i = 0; i < rank; ++i) place[known.axis_at(i)] = static_cast<std::int8_t>(i);
  live_.v[y].order = permuted(layout::packed(rank), place);
}

constexpr void statement_planner::run_attention(int id) {
  statement_value const& v = at(id);
  std::int64_t copies = 0;
  for (int i = 0; i < 3; ++i) {
    int const x = s_.input(id, i);
    if (is_attention_input(x)) continue;
    std::int64_t const bytes = live_.bytes_of(x);
    live_.take_recent_peak();
    live_.add(bytes);
    copy_step(step_kind::copy, x, id, x, elements(x), bytes);
    copies = saturating_sum(copies, bytes);
  }
  plan_step& step = begin_step(step_kind::kernel, id, id);
  allocate_like(id, s_.input(id, 0));
  int const keys = s_.input(id, 1);
  sized queries;
  for (int i = 0; i + 1 < v.rank; ++i) queries = queries * extent(id, i);
  std::int64_t const statistics = saturating_product(queries.value, statistics_size(v.type));
  live_.add(statistics);
  for (int i = 0; i < 3; ++i) reads_value(step, s_.input(id, i));
  sized const pairs = queries * extent(keys, v.rank - 2);
  charge(step, 4, pairs * extent(id, v.rank - 1));
  charge(step, operations_of(v.kind, 0), pairs);
  charge_write(step, places(id), v.type);
  step.temporary_bytes = statistics;
  if (!v.is_recorded) live_.remove(statistics);
  live_.remove(copies);
  end_step(step);
}

}  // namespace ricci::detail
