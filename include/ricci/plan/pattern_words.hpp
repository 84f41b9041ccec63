#pragma once

#include <ricci/pattern/numbers.hpp>
#include <ricci/plan/order.hpp>
#include <ricci/plan/statement_builder.hpp>
#include <ricci/tensor/graph.hpp>

/// Values of the words that take a pattern, from the integers that an expression's type holds.
namespace ricci::detail {

/// Stand-ins for the axes of intermediates, by index.
struct index_axes {
  axis_info of[max_indices];
  constexpr index_axes() {
    for (int i = 0; i < max_indices; ++i)
      of[i] = {"index", 5, dynamic_extent, static_cast<std::uint64_t>(i)};
  }
};
inline constexpr index_axes unnamed_axes;

/// A pattern as it stands in a pattern_op: groups, steering, numbers.
struct read_pattern {
  indexed_axes groups[graph::max_operands + 1];
  int operands = 0;
  lowering_code lowering = lowering_code::automatic;
  int positions = 0;
  std::int8_t position[2 * graph::max_operands] = {};
  std::int64_t number[max_indices] = {};  // -1: no number

  constexpr read_pattern(std::uint64_t const* words, int word_count, int count, bool is_steered)
      : operands(count) {
    std::int8_t code[graph::pattern_spec::code_capacity + 8] = {};
    int const size = 8 * word_count;
    for (int i = 0; i < size; ++i)
      code[i] = static_cast<std::int8_t>(words[i / 8] >> (8 * (i % 8)) & 255);
    int at = 0;
    for (int g = 0; g <= operands; ++g) {
      indexed_axes& group = groups[g];
      group.rank = code[at++];
      int used = 0;
      for (int axis = 0; axis < group.rank; ++axis) {
        int const factors = code[at++];
        for (int i = 0; i < factors; ++i) group.ids[used++] = code[at++];
        group.begin[axis + 1] = static_cast<std::int8_t>(used);
      }
    }
    for (std::int64_t& n : number) n = -1;
    if (is_steered) {
      lowering = static_cast<lowering_code>(code[at++]);
      positions = code[at++];
      for (int i = 0; i < positions; ++i) position[i] = code[at++];
    }
    read_numbers(code + at, size - at, [&](int id, std::int64_t extent) { number[id] = extent; });
  }
};

/// The extents of all indices of a call.
///   x  its operands; axes  those of its result
constexpr void find_sizes(statement_builder const& b, read_pattern const& p, int const* x,
                          axis_info const* const* axes, statement_builder::index_sizes& sizes) {
  for (int id = 0; id < max_indices; ++id)
    if (p.number[id] >= 0) {
      sizes.of[id] = size_from(p.number[id]);
      sizes.known[id] = true;
    }
  indexed_axes const& result = p.groups[p.operands];
  auto const all_known = [&] {
    for (int g = 0; g <= p.operands; ++g)
      for (int i = 0; i < p.groups[g].size(); ++i)
        if (!sizes.known[p.groups[g].ids[i]]) return false;
    return true;
  };
  // Whole axes first: a part of a split may be known from elsewhere, or be the rest of nothing.
  auto const learn_from_operands = [&] {
    for (bool const is_split : {false, true})
      for (int g = 0; g < p.operands; ++g) b.learn(sizes, p.groups[g], x[g], is_split);
  };
  // Operands first, then what the result's axes say by type, then what is given by value.
  learn_from_operands();
  b.learn_by_type(sizes, result, axes);
  learn_from_operands();
  for (int round = 0; round < max_indices && !all_known(); ++round) {
    b.take_given(sizes, result, axes);
    learn_from_operands();
  }
}

constexpr int one_pattern(statement_builder& b, read_pattern const& p, int x,
                          axis_info const* const* axes, bool may_be_view) {
  statement_builder::index_sizes sizes;
  find_sizes(b, p, &x, axes, sizes);
  statement_contraction rule;
  rule.may_be_view = may_be_view;
  rule.group[0] = p.groups[0];
  rule.result = p.groups[1];
  return b.contraction(rule, sizes, axes, &x);
}

constexpr int einsum_value(statement_builder& b, read_pattern const& p, int const* x,
                           axis_info const* const* axes) {
  if (p.operands == 1) return one_pattern(b, p, x[0], axes, false);
  statement_builder::index_sizes sizes;
  find_sizes(b, p, x, axes, sizes);
  std::uint32_t masks[graph::max_operands + 1] = {};
  for (int g = 0; g <= p.operands; ++g) masks[g] = p.groups[g].mask();
  std::int8_t position[2 * graph::max_operands] = {0, 1};
  if (p.positions > 0) {
    for (int i = 0; i < p.positions; ++i) position[i] = p.position[i];
  } else if (p.operands > 2) {
    std::int64_t extent[max_indices] = {};
    for (int id = 0; id < max_indices; ++id) extent[id] = sizes.of[id].value;
    contraction_order const order = plan_order(masks, p.operands, masks[p.operands], extent);
    for (int i = 0; i < order.positions; ++i) position[i] = order.position[i];
    // Where no order keeps to 24 axes the call itself throws; a plan of it takes them from the
    // left.
    for (int pair = 0; !order.fits && pair + 1 < p.operands; ++pair) {
      position[2 * pair] = 0;
      position[2 * pair + 1] = static_cast<std::int8_t>(pair == 0 ? 1 : p.operands - pair - 1);
    }
  }
  remaining_operands left(masks, p.operands, masks[p.operands]);
  indexed_axes groups[graph::max_operands];
  int values[graph::max_operands] = {};
  for (int g = 0; g < p.operands; ++g) {
    groups[g] = p.groups[g];
    values[g] = x[g];
  }
  for (int pair = 0;; ++pair) {
    int const i = position[2 * pair];
    int const j = position[2 * pair + 1];
    bool const is_last = left.count == 2;
    statement_contraction rule;
    rule.operands = 2;
    rule.forced = p.lowering;
    rule.group[0] = groups[i];
    rule.group[1] = groups[j];
    axis_info const* const* to = axes;
    if (is_last) {
      rule.result = p.groups[p.operands];
    } else {
      std::int8_t kept[max_indices] = {};
      int const count = intermediate_axes(groups[i].ids, groups[i].size(), groups[j].ids,
                                          groups[j].size(), left.kept(i, j), kept);
      axis_info const** const unnamed = b.new_axes(count);
      for (int axis = 0; axis < count; ++axis) {
        rule.result.push(kept[axis]);
        unnamed[axis] = &unnamed_axes.of[kept[axis]];
      }
      to = unnamed;
    }
    int const inputs[2] = {values[i], values[j]};
    int const product = b.contraction(rule, sizes, to, inputs);
    if (is_last) return product;
    left.contract(i, j);
    int next = 0;
    for (int g = 0; g <= left.count; ++g) {
      if (g == i || g == j) continue;
      groups[next] = groups[g];
      values[next++] = values[g];
    }
    groups[next] = rule.result;
    values[next] = product;
  }
}

/// A reduction of the axes in `mask`; `axes` are those kept.
constexpr int reduced_value(statement_builder& b, graph::reduction op, int x, std::uint32_t mask,
                            axis_info const* const* axes, dtype result) {
  int const from = b.value(x).rank;
  int rank = 0;
  for (int i = 0; i < from; ++i) rank += !(mask >> i & 1);
  int const id = b.make(value_kind::reduction, result, axes, rank, &x, 1);
  b.value(id).op = static_cast<std::uint8_t>(op);
  b.value(id).mask = mask;
  int to = 0;
  for (int i = 0; i < from; ++i)
    if (!(mask >> i & 1)) b.set_extent(id, to++, b.extent(x, i));
  return id;
}

/// src/graph/reduce.cpp: x by index where it is not already, the reduction, the result's order.
constexpr int reduce_by_pattern(statement_builder& b, graph::reduction op, read_pattern const& p,
                                int x, axis_info const* const* axes, dtype result) {
  statement_builder::index_sizes sizes;
  find_sizes(b, p, &x, axes, sizes);
  indexed_axes const& group = p.groups[0];
  indexed_axes const& to = p.groups[1];
  int by_ids = x;
  indexed_axes seen;
  if (group.is_plain()) {
    seen = group;
  } else {
    statement_contraction rule;
    rule.may_be_view = true;
    rule.group[0] = group;
    std::uint32_t present = 0;
    axis_info const** const unnamed = b.new_axes(max_rank);
    for (int i = 0; i < group.size() && rule.result.rank < max_rank; ++i) {
      if (present >> group.ids[i] & 1) continue;
      present |= std::uint32_t{1} << group.ids[i];
      unnamed[rule.result.rank] = &unnamed_axes.of[group.ids[i]];
      rule.result.push(group.ids[i]);
    }
    by_ids = b.contraction(rule, sizes, unnamed, &x);
    seen = rule.result;
  }
  std::uint32_t const kept = to.mask();
  std::uint32_t mask = 0;
  indexed_axes kept_group;
  axis_info const** const kept_axes = b.new_axes(max_rank);
  for (int i = 0; i < seen.rank; ++i) {
    if (!(kept >> seen.ids[i] & 1)) {
      mask |= std::uint32_t{1} << i;
      continue;
    }
    kept_axes[kept_group.rank] = b.value(by_ids).axes[i];
    kept_group.push(seen.ids[i]);
  }
  bool in_place = to.is_plain() && to.rank == kept_group.rank;
  for (int i = 0; in_place && i < to.rank; ++i) in_place = to.ids[i] == kept_group.ids[i];
  bool same_names = in_place;
  for (int i = 0; same_names && i < to.rank; ++i) same_names = is_same_axis(axes[i], kept_axes[i]);
  int const y = reduced_value(b, op, by_ids, mask, same_names ? axes : kept_axes, result);
  if (same_names) return y;
  if (in_place) return b.view(view_step::rename, y, axes, to.rank);
  statement_contraction rule;
  rule.may_be_view = true;
  rule.group[0] = kept_group;
  rule.result = to;
  return b.contraction(rule, sizes, axes, &y);
}

}  // namespace ricci::detail
