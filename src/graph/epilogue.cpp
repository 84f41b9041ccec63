#include "src/graph/compose.hpp"
#include "src/graph/contraction.hpp"
#include "src/graph/gradient.hpp"
#include "src/graph/region.hpp"

namespace ricci::graph {
namespace {

// How far up from a contraction its epilogue reaches.
struct chain {
  contraction_rule const* rule = nullptr;
  value* bottom = nullptr;  // the contraction
  value* end = nullptr;     // what is stored
  double alpha = 1;
  value* added[2] = {nullptr, nullptr};
  int added_count = 0;
  opcode activation = opcode::convert;
};

contraction_rule const* epilogue_taker(value const& v) {
  if (v.evaluated || v.computed_by != kind::operation || !is_floating(v.type)) return nullptr;
  auto const* const rule = dynamic_cast<contraction_rule const*>(v.how.get());
  return rule && rule->takes_epilogue() ? rule : nullptr;
}

bool same_places(value const& a, value const& b) {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (a.axes[i] != b.axes[i]) return false;
  return true;
}

bool is_activation(opcode op) {
  return op == opcode::relu || op == opcode::silu || op == opcode::gelu_tanh ||
         op == opcode::gelu_erf || op == opcode::tanh || op == opcode::sigmoid;
}

// The one node that takes v, and as which operand.
value* taker(region const& r, value const& v, int& operand) {
  for (int i = 0; i < r.node_count; ++i)
    for (int k = 0; k < r.nodes[i].v->input_count; ++k)
      if (r.nodes[i].v->inputs[k].get() == &v) {
        operand = k;
        return r.nodes[i].v;
      }
  return nullptr;
}

// May `next`, which takes the end of the chain as operand i, be computed on the way?
bool extend(chain& c, region const& r, value& next, int i) {
  if (!same_places(next, *c.end)) return false;
  value* const other = next.input_count == 2 ? next.inputs[1 - i].get() : nullptr;
  bool const is_linear = c.added_count == 0 && c.activation == opcode::convert;
  switch (next.op) {
    case opcode::negate:
      if (!is_linear) return false;
      c.alpha = -c.alpha;
      return true;
    case opcode::multiply:
      if (!is_linear || !other->is_number()) return false;
      c.alpha *= other->floating;
      return true;
    case opcode::subtract:
      // other - c; c - other has no place in an epilogue.
      if (i != 1 || !is_linear) return false;
      c.alpha = -c.alpha;
      [[fallthrough]];
    case opcode::add:
      if (c.activation != opcode::convert || c.added_count == 2) return false;
      if (other->is_number() || other == c.end || r.find_node(other) >= 0) return false;
      c.added[c.added_count++] = other;
      return true;
    default:
      if (!is_activation(next.op) || c.activation != opcode::convert) return false;
      c.activation = next.op;
      return true;
  }
}

// The last value that the contraction can compute; a gradient must not find it cut off from what
// its rules read: the operand of an activation, or the result of another.
chain follow(region const& r, region::source const& s) {
  chain c;
  c.bottom = c.end = s.v;
  c.rule = epilogue_taker(*s.v);
  if (c.rule == nullptr || !s.is_exclusive) return c;
  for (;;) {
    int operand = 0;
    value* const next = taker(r, *c.end, operand);
    if (next == nullptr) return c;
    // What is stored so far must suffice for the rule of `next`.
    if (c.end->levels != 0 && vjp_needs_input(*next, operand)) return c;
    if (next->op == opcode::convert) {
      // The cast ends an epilogue: f32 from narrower floats, as the sum was, or back.
      if (!same_places(*next, *c.end) || next->type != dtype::f32 ||
          kernels::compute_type(c.bottom->type) != dtype::f32 || c.end->type == dtype::f32)
        return c;
      c.end = next;
      return c;
    }
    if (!extend(c, r, *next, operand)) return c;
    c.end = next;
    if (next->levels != 0 && vjp_needs_result(next->op)) return c;
    int const node = r.find_node(next);
    if (!r.nodes[node].is_exclusive || next->references.load() != 1) return c;
  }
}

void run(chain const& c) {
  value& to = *c.end;
  for (int i = 0; i < 2; ++i) evaluate(c.bottom->inputs[i]);
  exec::contraction_epilogue epilogue;
  epilogue.alpha = c.alpha;
  epilogue.activation = c.activation;
  std::int64_t strides[2][max_rank];
  exec::contraction_added added[2];
  bool is_whole[2] = {};
  for (int i = 0; i < c.added_count; ++i) {
    evaluate(same(*c.added[i]));
    value const& v = *c.added[i];
    for (int a = 0; a < to.rank; ++a) {
      int const at = find_axis(v, to.axes[a]);
      strides[i][a] = at < 0 ? 0 : v.strides[at];
    }
    added[i] = {v.data, v.type, strides[i]};
    is_whole[i] = v.rank == to.rank;
  }
  // The smaller of two is the bias.
  bool const is_swapped = is_whole[0] && !(c.added_count == 2 && is_whole[1]);
  epilogue.bias = added[is_swapped ? 1 : 0];
  epilogue.residual = added[is_swapped ? 0 : 1];
  allocate(to);
  c.rule->contract_into(*c.bottom->inputs[0].get(), *c.bottom->inputs[1].get(), to, epilogue);
  mark_evaluated(to);
}

}  // namespace

bool fold_into_contractions(region const& r, value& root, bool& changed) {
  for (int i = 0; i < r.source_count; ++i) {
    chain const c = follow(r, r.sources[i]);
    if (c.end == c.bottom) continue;
    run(c);
    if (c.end == &root) return true;
    changed = true;
    return false;
  }
  return false;
}

}  // namespace ricci::graph
