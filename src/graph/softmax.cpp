#include "kernels/softmax/softmax.hpp"

#include "src/graph/rows.hpp"

namespace ricci::graph {
namespace {

struct softmax_rule final : operation {
  softmax_rule(int axis, bool is_log) : axis(axis), is_log(is_log) {}
  int axis;
  bool is_log;

  void compute(value& y) const override {
    packed_operand const x(y.inputs[0]);
    axis_lines const lines(y, axis);
    x.allocate_result(y);
    (is_log ? kernels::log_softmax : kernels::softmax)(y.type, lines.outer, lines.extent,
                                                       lines.inner, x.data(), y.data);
    ++count().kernels;
  }
  void describe(statement_value& to, statement_contraction&) const override {
    to.kind = is_log ? value_kind::log_softmax : value_kind::softmax;
    to.axis = static_cast<std::int8_t>(axis);
  }

  void vjp(value& self, handle const& dy, gradient_sink& sink) const override {
    handle const y = same(self);
    if (is_recorded(y, dy)) {
      if (is_log)
        sink.add(self.inputs[0], minus(dy, times(apply(opcode::exp, y), sum_along(dy, axis))));
      else
        sink.add(self.inputs[0], times(y, minus(dy, sum_along(times(y, dy), axis))));
      return;
    }
    auto const backward = is_log ? kernels::log_softmax_backward : kernels::softmax_backward;
    auto const run = [axis = axis, backward](value& dx) {
      packed_operand const y(dx.inputs[0]);
      packed_operand const dy(dx.inputs[1]);
      axis_lines const lines(dx, axis);
      dy.allocate_result(dx);
      backward(dx.type, lines.outer, lines.extent, lines.inner, y.data(), dy.data(), dx.data);
      ++count().kernels;
    };
    sink.add(self.inputs[0], gradient_by_kernel(y, run, {y, dy}));
  }
};

handle make(handle const& x, int axis, bool is_log) {
  value const& v = checked(x);
  dtype const type = kernel_dtype(v.type);
  handle input = convert(x, type);
  return convert(new_operation(type, v.axes_of(), v.extents, is_log ? "log_softmax" : "softmax",
                               std::make_unique<softmax_rule>(axis, is_log), &input, 1),
                 v.type);
}

}  // namespace

handle softmax(handle const& x, int axis) { return make(x, axis, false); }
handle log_softmax(handle const& x, int axis) { return make(x, axis, true); }

}  // namespace ricci::graph
