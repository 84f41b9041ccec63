#include "kernels/reduce/reduce.hpp"
#include "src/graph/compose.hpp"
#include "src/graph/gradient.hpp"

namespace ricci::graph {
namespace {

struct cumsum_rule final : operation {
  explicit cumsum_rule(int axis) : axis(axis) {}
  int axis;
  void compute(value& y) const override {
    allocate(y);
    value const& x = *y.inputs[0].get();
    kernels::cumsum({x.data, x.type, x.rank, x.extents, x.strides}, axis, y.data, y.type);
    ++count().reductions;
  }
  void describe(statement_value& to, statement_contraction&) const override {
    to.kind = value_kind::cumsum;
    to.axis = static_cast<std::int8_t>(axis);
  }
  void vjp(value& y, handle const& dy, gradient_sink& sink) const override {
    handle const& x = y.inputs[0];
    if (!sink.wants(x)) return;
    sink.add(x, convert(reverse(cumsum(reverse(dy, axis), axis, y.type), axis), x->type));
  }
  bool needs_result() const override { return false; }
};

}  // namespace

handle cumsum(handle const& x, int axis, dtype result) {
  value const& v = checked(x);
  handle input = x;
  return new_operation(result, v.axes_of(), v.extents, "cumsum",
                       std::make_unique<cumsum_rule>(axis), &input, 1);
}

}  // namespace ricci::graph
