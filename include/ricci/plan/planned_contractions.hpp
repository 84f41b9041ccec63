#pragma once

#include <ricci/plan/planner.hpp>

/// statement_planner: contractions (src/graph/contraction.cpp, src/contract.cpp,
/// src/contract_gemm.cpp).
namespace ricci::detail {

constexpr bool statement_planner::takes_epilogue(int id) const {
  statement_value const& v = at(id);
  if (v.kind != value_kind::contraction || is_evaluated(id) || !is_floating(v.type)) return false;
  statement_contraction const& rule = s_.contractions[v.contraction];
  return rule.operands == 2 && rule.result.has_all_distinct() &&
         (rule.result.mask() & ~(rule.group[0].mask() | rule.group[1].mask())) == 0;
}

constexpr sized statement_planner::product_over(int contraction, std::uint32_t ids) const {
  sized result;
  for (int id = 0; id < max_indices; ++id)
    if (ids >> id & 1) result = result * index_size(contraction, id);
  return result;
}

// What a contraction reads of an operand: of a diagonal its elements alone.
constexpr sized statement_planner::operand_elements(int id, int g) const {
  indexed_axes const& group = s_.contractions[at(id).contraction].group[g];
  return group.has_all_distinct() ? elements(s_.input(id, g))
                                  : product_over(at(id).contraction, group.mask());
}

// An operand seen by index: split axes taken apart, a repeated index as its diagonal, and where
// wanted without indices of extent 1.
constexpr contraction_tensor statement_planner::operand_by_index(statement_contraction const& rule,
                                                                 int g, layout order,
                                                                 bool drop_ones) const {
  indexed_axes const& group = rule.group[g];
  contraction_tensor t;
  t.known = order;
  int rank = group.size();
  if (rank > max_rank) {  // nothing is known of so many
    t.known = layout::strided(max_rank);
    return t;
  }
  for (int axis = group.rank - 1; axis >= 0; --axis) {
    int const parts = group.begin[axis + 1] - group.begin[axis];
    if (parts > 1) t.known = split(t.known, axis, parts);
    if (parts == 0) t.known = ricci::at(t.known, axis);
  }
  for (int i = 0; i < rank; ++i) t.index[i] = static_cast<std::uint8_t>(group.ids[i]);
  for (int q = rank - 1; q > 0; --q) {
    int p = 0;
    while (t.index[p] != t.index[q]) ++p;
    if (p == q) continue;
    t.known = diagonal(t.known, p, q);
    for (int i = q; i + 1 < rank; ++i) t.index[i] = t.index[i + 1];
    --rank;
  }
  for (int i = rank - 1; drop_ones && i >= 0; --i) {
    if (rule.extent[t.index[i]] != 1) continue;
    t.known = without_unit_axis(t.known, i);
    for (int k = i; k + 1 < rank; ++k) t.index[k] = t.index[k + 1];
    --rank;
  }
  return t;
}

// Makes a value a view of `from`, where every merge that its axes need is one of the layout.
constexpr bool statement_planner::look(int id, int owner, contraction_tensor const& from) {
  indexed_axes const& result = s_.contractions[at(id).contraction].result;
  if (result.size() > max_rank) return false;
  int const missing = result.size() - from.known.rank;
  layout order = broadcast_front(from.known, missing);
  std::int8_t source[max_rank] = {};
  int fresh = 0;
  for (int i = 0; i < result.size(); ++i) {
    int place = 0;
    while (place < from.known.rank && from.index[place] != result.ids[i]) ++place;
    source[i] = static_cast<std::int8_t>(place < from.known.rank ? missing + place : fresh++);
  }
  order = permuted(order, source);
  for (int axis = result.rank - 1; axis >= 0; --axis) {
    int const first = result.begin[axis];
    int const parts = result.begin[axis + 1] - first;
    for (int i = first; i + 1 < first + parts; ++i)
      if (!can_merge(order, i, i + 1)) return false;
    order = merge(order, first, parts);
  }
  if (owner != id) live_.share(id, owner);
  live_.v[id].order = order;
  return true;
}

constexpr contraction_request statement_planner::request_of(planned_chain const& c,
                                                            std::uint8_t const* result,
                                                            int rank) const {
  statement_contraction const& rule = s_.contractions[at(c.bottom).contraction];
  contraction_request r;
  r.a = operand_by_index(rule, 0, live_.v[s_.input(c.bottom, 0)].order, true);
  r.b = operand_by_index(rule, 1, live_.v[s_.input(c.bottom, 1)].order, true);
  for (int i = 0; i < rank; ++i)
    if (rule.extent[result[i]] != 1) r.result[r.result_rank++] = result[i];
  for (int id = 0; id < max_indices; ++id) r.extent[id] = rule.extent[id];
  r.type = at(c.bottom).type;
  r.result_type = at(c.end).type;
  r.has_epilogue = c.is_scaled || c.added_count > 0 || c.has_activation;
  r.forced = rule.forced;
  return r;
}

// Is an added array one axis wherever the indices of a group of the product are?
constexpr bool statement_planner::merges(planned_chain const& c, contraction_plan const& plan,
                                         int added) const {
  if (added < 0) return true;
  statement_contraction const& rule = s_.contractions[at(c.bottom).contraction];
  statement_value const& x = at(added);
  layout const& known = live_.v[added].order;
  auto const axis_of = [&](int id) {
    for (int i = 0; i < rule.result.rank; ++i)
      if (rule.result.ids[i] == id) return find_axis(x.axes, x.rank, at(c.end).axes[i]);
    return -1;
  };
  for (int g = 0; g < plan.group_count; ++g)
    for (int i = plan.groups[g].first; i < plan.groups[g].last; ++i) {
      int const p = axis_of(plan.indices[i].id);
      int const q = axis_of(plan.indices[i + 1].id);
      if (p < 0 && q < 0) continue;
      if (p < 0 || q < 0 || !can_merge(known, p, q)) return false;
    }
  return true;
}

constexpr void statement_planner::note_epilogue(plan_step& step, planned_chain const& c) {
  step.fused = c.length;
  step.first_node = to_.list_size;
  for (int i = 0; i < c.length && i < planned_chain::most_shown; ++i) {
    to_.push(c.path[i]);
    ++step.nodes;
  }
  step.first_read = to_.list_size;
}

// The product itself, its packs before and its permutation behind it. `result`: the indices in the
// order in which the product is stored; memory for it is there.
constexpr void statement_planner::contract_into(planned_chain const& c, std::uint8_t const* result,
                                                int rank) {
  int const number = at(c.bottom).contraction;
  statement_contraction const& rule = s_.contractions[number];
  int const left = s_.input(c.bottom, 0);
  int const right = s_.input(c.bottom, 1);
  std::uint32_t const in_a = rule.group[0].mask();
  std::uint32_t const in_b = rule.group[1].mask();
  std::uint32_t in_result = 0;
  for (int i = 0; i < rank; ++i) in_result |= std::uint32_t{1} << result[i];
  std::uint32_t const summed_a = in_a & ~in_b & ~in_result;
  std::uint32_t const summed_b = in_b & ~in_a & ~in_result;
  double products = 1;
  bool is_empty = false;
  bool has_empty_sum = false;
  for (int id = 0; id < max_indices; ++id) {
    if (!((in_a | in_b) >> id & 1)) continue;
    products *= static_cast<double>(rule.extent[id]);
    bool const is_result = in_result >> id & 1;
    is_empty = is_empty || (is_result && rule.extent[id] == 0);
    has_empty_sum = has_empty_sum || (!is_result && rule.extent[id] == 0);
  }
  if (is_empty) return;  // nothing runs

  contraction_request const request = request_of(c, result, rank);
  contraction_candidate choice;
  choice.code = lowering_code::loops;
  bool const is_small = products <= least_planned && rule.forced == lowering_code::automatic;
  if (!is_small && !has_empty_sum) choice = candidates_of(request).best();
  contraction_plan const& plan = choice.plan;
  bool const pack_a = plan.swapped ? plan.pack_right : plan.pack_left;
  bool const pack_b = plan.swapped ? plan.pack_left : plan.pack_right;
  dtype const type = request.type;
  bool const is_gemm = plan.gemms() > 0;
  dtype const packed_type = is_gemm ? type : accumulator_of(type);

  // --- packs -------------------------------------------------------------------------------
  std::int64_t temporary = 0;
  bool const packs[2] = {pack_a, pack_b};
  int const operands[2] = {left, right};
  std::uint32_t const masks[2] = {in_a, in_b};
  std::uint32_t const sums[2] = {summed_a, summed_b};
  for (int pass = 0; pass < 2; ++pass) {
    int const g = plan.swapped ? 1 - pass : pass;  // the left one first
    if (!packs[g]) continue;
    plan_step& step = begin_step(step_kind::pack, c.end, c.bottom);
    step.operand = static_cast<std::int8_t>(g + 1);
    sized const kept = product_over(number, masks[g] & ~sums[g]);
    std::int64_t const bytes = saturating_product(kept.value, size_of(packed_type));
    live_.add_workspace(bytes);
    temporary = saturating_sum(temporary, bytes);
    step.temporary_bytes = bytes;
    read(step, operands[g]);
    charge_read(step, operand_elements(c.bottom, g), type);
    charge_write(step, kept, packed_type);
    if (sums[g] != 0) charge(step, 1, product_over(number, masks[g]));
    end_step(step);
  }

  // --- the product ---------------------------------------------------------------------------
  // Where the result is not what the library writes, it writes beside it.
  bool const is_direct =
      !plan.copy_result && (request.result_type == dtype::f32 || request.result_type == type);
  bool const may_fuse = is_direct && merges(c, plan, c.added[0]) && merges(c, plan, c.added[1]);
  bool const in_place = is_direct && request.result_type == dtype::f32;
  bool const is_beside = is_gemm && !(is_direct && (may_fuse || in_place || !request.has_epilogue));
  dtype const beside_type =
      !request.has_epilogue && request.result_type == type ? type : dtype::f32;
  sized const result_size = product_over(number, in_result);
  plan_step& step = begin_step(is_gemm ? step_kind::gemm : step_kind::loops, c.end, c.bottom);
  int const index = to_.step_count;
  step.lowering = is_gemm ? code_of(plan) : lowering_code::loops;
  if (!is_beside) note_epilogue(step, c);
  std::uint32_t const product = (in_a & ~summed_a) | (in_b & ~summed_b);
  step.batch = step.m = step.n = step.k = 1;
  if (plan.kind != contraction_kind::invalid) {
    for (int g = 0; g < plan.group_count; ++g) {
      std::int64_t e = 1;
      for (int i = plan.groups[g].first; i <= plan.groups[g].last; ++i)
        e = saturating_product(e, rule.extent[plan.indices[i].id]);
      index_role const role = plan.groups[g].role;
      std::int64_t& to = (is_gemm ? g == plan.m : role == index_role::m)   ? step.m
                         : (is_gemm ? g == plan.n : role == index_role::n) ? step.n
                         : (is_gemm ? g == plan.k : role == index_role::k) ? step.k
                                                                           : step.batch;
      to = saturating_product(to, e);
    }
  } else {
    step.batch = product_over(number, in_a & in_b & in_result).value;
    step.m = product_over(number, in_a & ~in_b & in_result).value;
    step.n = product_over(number, in_b & ~in_a & in_result).value;
    step.k = product_over(number, in_a & in_b & ~in_result).value;
  }
  for (int g = 0; g < 2; ++g) {
    read(step, operands[g]);
    if (packs[g])
      charge_read(step, product_over(number, masks[g] & ~sums[g]), packed_type);
    else
      charge_read(step, operand_elements(c.bottom, g), type);
    if (sums[g] != 0 && !packs[g]) charge(step, 1, product_over(number, masks[g]));
  }
  charge(step, 2, product_over(number, product));
  std::int64_t const beside =
      is_beside ? saturating_product(result_size.value, size_of(beside_type)) : 0;
  live_.add_workspace(beside);
  if (is_beside) charge_write(step, result_size, beside_type);
  if (to_.requests != nullptr && index < to_.max_steps) {
    to_.requests[index] = request;
    to_.plans[index] = plan;
  }
  plan_step* last = &step;
  if (is_beside) {
    end_step(step);
    plan_step& permute = begin_step(step_kind::permute, c.end, c.bottom);
    permute.temporary_bytes = beside;
    note_epilogue(permute, c);
    charge_read(permute, result_size, beside_type);
    last = &permute;
  }
  if (is_gemm && request.has_epilogue && !is_beside && !may_fuse) {
    // The library takes no such added array: a second pass over the result.
    step.is_apart = true;
    charge_read(step, result_size, request.result_type);
    charge_write(step, result_size, request.result_type);
  }
  for (int i = 0; i < c.added_count; ++i) reads_value(*last, c.added[i]);
  charge(*last, c.operations, result_size);
  charge_write(*last, result_size, request.result_type);
  end_step(*last);
  live_.remove_workspace(temporary + beside);
}

constexpr void statement_planner::run_chain(planned_chain const& c) {
  for (int i = 0; i < 2; ++i) evaluate(s_.input(c.bottom, i));
  for (int i = 0; i < c.added_count; ++i) evaluate(c.added[i]);
  live_.allocate(c.end);
  indexed_axes const& result = s_.contractions[at(c.bottom).contraction].result;
  std::uint8_t ids[max_indices] = {};
  for (int i = 0; i < result.size(); ++i) ids[i] = static_cast<std::uint8_t>(result.ids[i]);
  contract_into(c, ids, result.size());
  live_.mark_evaluated(c.end);
}

constexpr void statement_planner::contract(int id) {
  int const number = at(id).contraction;
  statement_contraction const& rule = s_.contractions[number];
  planned_chain plain;
  plain.bottom = plain.end = id;
  std::uint32_t present = rule.group[0].mask();
  if (rule.operands == 2) present |= rule.group[1].mask();
  bool const is_sum = rule.operands == 2 || (present & ~rule.result.mask()) != 0;
  bool const is_distinct = rule.result.has_all_distinct();
  bool const is_plain = is_distinct && (rule.result.mask() & ~present) == 0;
  int const x = s_.input(id, 0);
  contraction_tensor core = operand_by_index(rule, 0, live_.v[x].order, false);
  bool has_order = rule.group[0].size() <= max_rank;
  std::int64_t between = 0;
  sized core_size = operand_elements(id, 0);
  if (is_sum) {
    std::uint8_t ids[max_indices] = {};
    int rank = 0;
    std::uint32_t left = present;
    for (int i = 0; i < rule.result.size(); ++i) {
      int const index = rule.result.ids[i];
      if (!(left >> index & 1)) continue;
      left &= ~(std::uint32_t{1} << index);
      ids[rank++] = static_cast<std::uint8_t>(index);
    }
    sized const size = product_over(number, present & rule.result.mask());
    if (is_plain) {
      live_.allocate(id);
    } else {
      between = saturating_product(size.value, size_of(at(id).type));
      live_.add(between);
    }
    if (rule.operands == 2) {
      contract_into(plain, ids, rank);
    } else if (size.value > 0) {
      plan_step& step = begin_step(step_kind::loops, id, id);
      step.lowering = lowering_code::loops;
      read(step, x);
      charge_read(step, core_size, at(id).type);
      step.m = size.value;
      step.batch = step.n = 1;
      step.k = product_over(number, present & ~rule.result.mask()).value;
      charge(step, 1, product_over(number, present));
      charge_write(step, size, at(id).type);
      step.temporary_bytes = between;
      end_step(step);
    }
    if (is_plain) return;
    core = {};
    core.known = layout::packed(rank);
    for (int i = 0; i < rank; ++i) core.index[i] = ids[i];
    has_order = true;
    core_size = size;
  }
  if (rule.may_be_view && is_distinct && has_order && look(id, is_sum ? id : x, core)) {
    plan_step& step = begin_step(step_kind::view, id, id);
    read(step, is_sum ? id : x);
    // What was computed beside is the view's own storage now.
    if (is_sum) {
      layout const order = live_.v[id].order;
      live_.allocate(id, true);
      live_.v[id].order = order;
      live_.set_storage_bytes(id, between);
    }
    end_step(step);
    return;
  }
  plan_step& step = begin_step(step_kind::copy, id, id);
  live_.allocate(id);
  read(step, x);
  charge_read(step, core_size, at(id).type);
  charge_write(step, places(id), at(id).type);
  end_step(step);
  live_.remove(between);
}

}  // namespace ricci::detail
