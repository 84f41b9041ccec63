#include "src/graph/region.hpp"

#include <vector>

#include "src/graph/compose.hpp"

namespace ricci::graph {
namespace {

using kernels::pointwise_value;

struct frame {
  value* v;
  int next_input;
  int first_node;  // nodes from here on lie below v
  bool is_exclusive;
};

// Walks the region in post-order. False where it does not fit: `cut` is then the largest complete
// part of it.
bool walk(region& r, value& root, value*& cut) {
  thread_local std::vector<frame> kept;
  std::vector<frame> stack = std::exchange(kept, {});
  stack.clear();
  stack.push_back({&root, 0, r.node_count, true});
  int largest = 0;
  bool fits = true;
  while (!stack.empty() && fits) {
    frame& top = stack.back();
    value& v = *top.v;
    if (top.next_input < v.input_count) {
      value* const in = v.inputs[top.next_input++].get();
      bool const is_exclusive = top.is_exclusive && in->references.load() == 1;
      if (in->is_number()) {
        if (r.find_number(in) >= 0) continue;
        fits = r.number_count < kernels::max_pointwise_constants;
        if (fits) r.numbers[r.number_count++] = in;
      } else if (in->is_open() && in->count == root.count) {
        if (r.find_node(in) < 0) stack.push_back({in, 0, r.node_count, is_exclusive});
      } else if (r.find_source(in) < 0) {
        fits = r.source_count < kernels::max_pointwise_operands;
        if (fits) r.sources[r.source_count++] = {in, is_exclusive};
      }
      continue;
    }
    fits = r.node_count < kernels::max_pointwise_instructions;
    if (!fits) break;
    r.nodes[r.node_count] = {&v, top.is_exclusive};
    if (int const size = ++r.node_count - top.first_node; size >= largest && &v != &root) {
      largest = size;
      cut = &v;
    }
    stack.pop_back();
  }
  kept = std::move(stack);
  return fits;
}

// The strides of a value along the axes of the loop.
std::int64_t const* strides_along(value const& v, value const& loop, std::int64_t* room) {
  if (v.axes == loop.axes && v.rank == loop.rank) return v.strides;
  for (int i = 0; i < loop.rank; ++i) {
    int const at = find_axis(v, loop.axes[i]);
    room[i] = at < 0 ? 0 : v.strides[at];
  }
  return room;
}

dtype instruction_type(value const& v) {
  if (v.op == opcode::convert || v.op == opcode::index) return v.type;
  return kernels::compute_type(v.inputs[v.op == opcode::where ? 1 : 0]->type);
}

// May the result of the loop stand where this source stood?
bool can_take_over(region::source const& s, value const& root) {
  value const& v = *s.v;
  if (!s.is_exclusive || root.levels != 0 || v.levels != 0 || v.type != root.type) return false;
  if (v.count != root.count || v.count == 0 || !v.storage.is_unique()) return false;
  if (v.storage.is_borrowed() || v.storage.bytes() != v.count * size_of(v.type)) return false;
  if (v.rank != root.rank || v.data != v.storage.data()) return false;
  for (int i = 0; i < v.rank; ++i)
    if (v.axes[i] != root.axes[i]) return false;
  return is_packed(v.order);
}

}  // namespace

int region::find_node(value const* v) const {
  for (int i = node_count - 1; i >= 0; --i)
    if (nodes[i].v == v) return i;
  return -1;
}
int region::find_source(value const* v) const {
  for (int i = 0; i < source_count; ++i)
    if (sources[i].v == v) return i;
  return -1;
}
int region::find_number(value const* v) const {
  for (int i = 0; i < number_count; ++i)
    if (numbers[i] == v) return i;
  return -1;
}

void collect(region& r, value& root) {
  for (;;) {
    r.node_count = r.source_count = r.number_count = 0;
    value* cut = nullptr;
    if (walk(r, root, cut)) return;
    // A region of a single value always fits, so there is a part to take out.
    evaluate(same(*cut));
  }
}

loop_program::loop_program(region const& r, value const& loop) : r_(r), loop_(loop) {
  for (int i = 0; i < r.source_count; ++i) {
    value const& v = *r.sources[i].v;
    operands_[i] = {v.data, v.type, strides_along(v, loop, room_[i])};
  }
  for (int i = 0; i < r.number_count; ++i) {
    value const& v = *r.numbers[i];
    constants_[i] = {kernels::compute_type(v.type), v.floating, v.integer};
  }
  for (int i = 0; i < r.node_count; ++i) {
    value const& v = *r.nodes[i].v;
    // From a narrow float to f32 there is nothing to do: it is computed in f32 anyway.
    if (v.op == opcode::convert && v.type == dtype::f32 &&
        kernels::compute_type(v.inputs[0]->type) == dtype::f32) {
      names_[i] = name_of(v.inputs[0].get());
      continue;
    }
    kernels::pointwise_instruction& to = instructions_[used_];
    to.op = v.op;
    to.type = instruction_type(v);
    if (v.op == opcode::index)
      to.axis = static_cast<std::uint8_t>(find_axis(loop, v.axes[v.along]));
    for (int k = 0; k < v.input_count; ++k)
      to.sources[static_cast<std::size_t>(k)] = name_of(v.inputs[k].get());
    names_[i] = pointwise_value::instruction(used_++);
  }
}

pointwise_value loop_program::name_of(value const* v) const {
  if (v->is_number()) return pointwise_value::constant(r_.find_number(v));
  if (int const node = r_.find_node(v); node >= 0) return names_[node];
  return pointwise_value::operand(r_.find_source(v));
}

kernels::pointwise_program loop_program::with_outputs(kernels::pointwise_output const* outputs,
                                                      int count) const {
  auto const size = [](int n) { return static_cast<std::size_t>(n); };
  return {loop_.rank,
          loop_.extents,
          {operands_, size(r_.source_count)},
          {constants_, size(r_.number_count)},
          {instructions_, size(used_)},
          {outputs, size(count)}};
}

bool prepare(region& r, value& root) {
  for (bool changed = true; changed;) {
    changed = false;
    collect(r, root);
    if (fold_into_contractions(r, root, changed)) return true;
    // A source may be computed from a node of the region, which then is a source itself.
    for (int i = 0; i < r.source_count && !changed; ++i)
      if (!r.sources[i].v->evaluated) {
        evaluate(same(*r.sources[i].v));
        changed = true;
      }
  }
  return false;
}

bool run_together(value* const* roots, int count) {
  region r;
  value* cut = nullptr;
  for (int k = 0; k < count; ++k) {
    int const known = r.source_count;
    bool is_shared = k == 0 || r.find_node(roots[k]) >= 0;
    if (r.find_node(roots[k]) < 0 && !walk(r, *roots[k], cut)) return false;
    for (int i = 0; i < r.source_count; ++i)
      if (!r.sources[i].v->evaluated) return false;
    // What the further values read has to be what is read anyway, for the most part.
    int whole = 0;
    for (int i = known; i < r.source_count; ++i) whole += r.sources[i].v->count == roots[0]->count;
    is_shared = is_shared || whole <= 1;
    if (!is_shared) return false;
  }
  run(r, roots, count);
  for (int k = 0; k < count; ++k) mark_evaluated(*roots[k]);
  return true;
}

void run(region const& r, value* const* roots, int count) {
  loop_program const loop(r, *roots[0]);
  kernels::pointwise_output outputs[kernels::max_pointwise_outputs];
  bool taken[kernels::max_pointwise_operands]{};
  for (int k = 0; k < count; ++k) {
    value& v = *roots[k];
    int from = 0;
    while (from < r.source_count && (taken[from] || !can_take_over(r.sources[from], v))) ++from;
    if (from < r.source_count) {
      taken[from] = true;
      value const& source = *r.sources[from].v;
      v.storage = source.storage;
      v.storage.set_role(allocation_role::current());
      v.data = source.data;
      set_packed_strides(v);
    } else {
      allocate(v);
    }
    outputs[k] = {loop.name_of(&v), v.type, v.data};
  }
  kernels::run(loop.with_outputs(outputs, count));
  ++graph::count().loops;
}

}  // namespace ricci::graph
