#include "kernels/copy/copy.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "src/graph/compose.hpp"
#include "src/graph/region.hpp"
#include "src/graph/value.hpp"

namespace ricci::graph {
namespace {

thread_local int depth = 0;

struct deeper {
  deeper() { ++depth; }
  ~deeper() { --depth; }
  deeper(deeper const&) = delete;
  deeper& operator=(deeper const&) = delete;
};

// A program of one output and no instruction.
void fill(value& v, kernels::pointwise_constant const& number) {
  kernels::pointwise_output const out{kernels::pointwise_value::constant(0), v.type, v.data};
  kernels::run({v.rank, v.extents, {}, {&number, 1}, {}, {&out, 1}});
  ++count().loops;
}

void evaluate_region(value& v) {
  region r;
  if (prepare(r, v)) return;
  value* const root = &v;
  run(r, &root, 1);
}

}  // namespace

void mark_evaluated(value& v) {
  v.evaluated = true;
  // Whatever nobody differentiates forgets how it came about, and frees what it was made from.
  if (v.levels == 0) forget(v);
}

void evaluate(handle const& x) {
  value& v = checked(x);
  if (v.evaluated) return;
  if (depth == 0) ++count().statements;
  deeper const here;
  switch (v.computed_by) {
    case kind::leaf:
      break;
    case kind::number:
      allocate(v);
      fill(v, {kernels::compute_type(v.type), v.floating, v.integer});
      break;
    case kind::pointwise:
      evaluate_region(v);
      break;
    case kind::operation:
      v.how->evaluate_inputs(v);
      v.how->compute(v);
      break;
  }
  mark_evaluated(v);
}

void operation::evaluate_inputs(value& y) const {
  for (int i = 0; i < y.input_count; ++i) evaluate(y.inputs[i]);
}

handle copied(handle const& x) {
  value& v = evaluated(x);
  handle result = new_value(v.type, v.axes_of());
  value& y = *result.get();
  set_extents(y, v.extents, "copy");
  allocate(y);
  kernels::copy(size_of(v.type), v.rank, v.extents, y.data, y.strides, v.data, v.strides);
  y.evaluated = true;
  ++count().copies;
  return result;
}

}  // namespace ricci::graph
