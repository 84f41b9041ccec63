#pragma once

#include <ricci/plan/planner.hpp>

/// statement_planner: fused elementwise loops and epilogues (src/graph/region.cpp, epilogue.cpp).
namespace ricci::detail {

// Post-order; false where the region does not fit one program: `cut` is then its largest part.
constexpr bool statement_planner::walk(planned_region& r, int root, int& cut) {
  int depth = 0;
  frames_[depth++] = {root, 0, r.node_count, true};
  int largest = 0;
  while (depth > 0) {
    frame& top = frames_[depth - 1];
    statement_value const& v = at(top.value);
    if (top.next_input < v.inputs) {
      int const in = s_.input(top.value, top.next_input++);
      bool const is_exclusive = top.is_exclusive && references(in) == 1;
      if (is_number(in)) {
        if (r.has_number(in)) continue;
        if (r.number_count == planned_region::max_numbers) return false;
        r.numbers[r.number_count++] = in;
      } else if (is_open(in) && at(in).count == at(root).count) {
        if (r.find_node(in) < 0) frames_[depth++] = {in, 0, r.node_count, is_exclusive};
      } else if (r.find_source(in) < 0) {
        if (r.source_count == planned_region::max_sources) return false;
        r.sources[r.source_count++] = {in, is_exclusive};
      }
      continue;
    }
    if (r.node_count == planned_region::max_nodes) return false;
    r.nodes[r.node_count] = {top.value, top.is_exclusive};
    int const size = ++r.node_count - top.first_node;
    if (size >= largest && top.value != root) {
      largest = size;
      cut = top.value;
    }
    --depth;
  }
  return true;
}

constexpr void statement_planner::collect(planned_region& r, int root) {
  for (;;) {
    r.node_count = r.source_count = r.number_count = 0;
    int cut = -1;
    if (walk(r, root, cut)) return;
    evaluate(cut);
  }
}

constexpr bool statement_planner::prepare(planned_region& r, int root) {
  for (bool changed = true; changed;) {
    changed = false;
    collect(r, root);
    if (fold(r, root, changed)) return true;
    for (int i = 0; i < r.source_count && !changed; ++i) {
      if (is_evaluated(r.sources[i].value)) continue;
      evaluate(r.sources[i].value);
      changed = true;
    }
  }
  return false;
}

constexpr bool statement_planner::can_take_over(planned_region::entry const& source,
                                                int root) const {
  int const x = source.value;
  if (!source.is_exclusive || at(root).is_recorded || at(x).is_recorded) return false;
  if (at(x).type != at(root).type || at(x).count != at(root).count || at(x).count == 0)
    return false;
  return live_.is_sole_owner(x) && same_axes(x, root) && is_packed(live_.v[x].order);
}

constexpr void statement_planner::note_fused(plan_step& step, planned_region const& r) {
  step.first_node = to_.list_size;
  for (int i = 0; i < r.node_count; ++i) {
    int const node = r.nodes[i].value;
    to_.push(node);
    ++step.nodes;
    opcode const op = static_cast<opcode>(at(node).op);
    if (op != opcode::convert) ++step.fused;
    charge(step, operations_of(op), places(node));
  }
  step.first_read = to_.list_size;
}

constexpr void statement_planner::run_region(planned_region const& r, int root) {
  plan_step& step = begin_step(step_kind::loop, root, root);
  note_fused(step, r);
  for (int i = 0; i < r.source_count; ++i) reads_value(step, r.sources[i].value);
  int from = 0;
  while (from < r.source_count && !can_take_over(r.sources[from], root)) ++from;
  if (from < r.source_count)
    live_.take_over(root, r.sources[from].value);
  else
    live_.allocate(root);
  charge_write(step, places(root), at(root).type);
  end_step(step);
}

// --- epilogues -------------------------------------------------------------------------------

constexpr bool is_epilogue_activation(opcode op) {
  return op == opcode::relu || op == opcode::silu || op == opcode::gelu_tanh ||
         op == opcode::gelu_erf || op == opcode::tanh || op == opcode::sigmoid;
}

constexpr int statement_planner::taker(planned_region const& r, int value, int& operand) const {
  for (int i = 0; i < r.node_count; ++i) {
    int const node = r.nodes[i].value;
    for (int k = 0; k < at(node).inputs; ++k) {
      if (s_.input(node, k) != value) continue;
      operand = k;
      return node;
    }
  }
  return -1;
}

// May `next`, which takes the end of the chain as operand i, be computed on the way?
constexpr bool statement_planner::extend(planned_chain& c, planned_region const& r, int next,
                                         int i) const {
  if (!same_axes(next, c.end)) return false;
  int const other = at(next).inputs == 2 ? s_.input(next, 1 - i) : -1;
  bool const is_linear = c.added_count == 0 && !c.has_activation;
  opcode const op = static_cast<opcode>(at(next).op);
  switch (op) {
    case opcode::negate:
      if (!is_linear) return false;
      c.is_scaled = true;
      return true;
    case opcode::multiply:
      if (!is_linear || !is_number(other)) return false;
      c.is_scaled = c.is_scaled || !at(other).is_number_one;
      return true;
    case opcode::subtract:
      if (i != 1 || !is_linear) return false;
      c.is_scaled = true;
      [[fallthrough]];
    case opcode::add:
      if (c.has_activation || c.added_count == 2) return false;
      if (is_number(other) || other == c.end || r.find_node(other) >= 0) return false;
      c.added[c.added_count++] = other;
      return true;
    default:
      if (!is_epilogue_activation(op) || c.has_activation) return false;
      c.has_activation = true;
      return true;
  }
}

// Does the rule of an elementwise operation read the elements of its input?
constexpr bool statement_planner::vjp_needs_input(int value, int operand) const {
  auto const is_recorded = [&](int k) { return at(s_.input(value, k)).is_recorded; };
  switch (static_cast<opcode>(at(value).op)) {
    case opcode::convert:
    case opcode::negate:
    case opcode::add:
    case opcode::subtract:
    case opcode::reciprocal:
    case opcode::sqrt:
    case opcode::rsqrt:
    case opcode::exp:
    case opcode::tanh:
    case opcode::sigmoid:
    case opcode::relu:
      return false;
    case opcode::multiply:
      return is_recorded(1 - operand);
    case opcode::fma:
      return operand < 2 && is_recorded(1 - operand);
    case opcode::divide:
      return operand == 1;
    case opcode::where:
      return operand == 0;
    default:
      return true;
  }
}

constexpr bool vjp_needs_own_result(opcode op) {
  switch (op) {
    case opcode::reciprocal:
    case opcode::sqrt:
    case opcode::rsqrt:
    case opcode::exp:
    case opcode::tanh:
    case opcode::sigmoid:
    case opcode::relu:
    case opcode::divide:
    case opcode::power:
      return true;
    default:
      return false;
  }
}

constexpr dtype elementwise_compute_type(dtype type) {
  return is_floating(type) && type != dtype::f64 ? dtype::f32 : type;
}

constexpr planned_chain statement_planner::follow(planned_region const& r,
                                                  planned_region::entry const& source) {
  planned_chain c;
  c.bottom = c.end = source.value;
  if (!takes_epilogue(source.value) || !source.is_exclusive) return c;
  for (;;) {
    int operand = 0;
    int const next = taker(r, c.end, operand);
    if (next < 0) return c;
    statement_value const& v = at(next);
    if (at(c.end).is_recorded && vjp_needs_input(next, operand)) return c;
    opcode const op = static_cast<opcode>(v.op);
    if (op == opcode::convert) {
      // The cast ends an epilogue: f32 from narrower floats, as the sum was.
      if (!same_axes(next, c.end) || v.type != dtype::f32 ||
          elementwise_compute_type(at(c.bottom).type) != dtype::f32 || at(c.end).type == dtype::f32)
        return c;
      c.push(next);
      return c;
    }
    if (!extend(c, r, next, operand)) return c;
    c.push(next);
    c.operations += operations_of(op);
    if (v.is_recorded && vjp_needs_own_result(op)) return c;
    if (!r.nodes[r.find_node(next)].is_exclusive || references(next) != 1) return c;
  }
}

constexpr bool statement_planner::fold(planned_region const& r, int root, bool& changed) {
  for (int i = 0; i < r.source_count; ++i) {
    planned_chain const c = follow(r, r.sources[i]);
    if (c.end == c.bottom) continue;
    run_chain(c);
    if (c.end == root) return true;
    changed = true;
    return false;
  }
  return false;
}

}  // namespace ricci::detail
