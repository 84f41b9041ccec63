#include "kernels/rms_norm/rms_norm.hpp"

#include "src/graph/norm.hpp"

namespace ricci::graph {
namespace {

struct rms_norm_rule final : operation {
  rms_norm_rule(double epsilon, bool has_scale) : epsilon(epsilon), has_scale(has_scale) {}
  double epsilon;
  bool has_scale;
  mutable storage_handle rstd;  // kept for the gradient, one number a row

  handle const& scale_of(value const& y) const { return has_scale ? y.inputs[1] : none; }

  void compute(value& y) const override {
    norm_rows const rows(y);
    packed_operand const x(y.inputs[0]);
    packed_operand const scale(scale_of(y));
    if (y.levels != 0) rstd = ricci::allocate(rows.count * size_of(statistics_dtype(y.type)));
    x.allocate_result(y);
    kernels::rms_norm(y.type, rows.count, rows.width, x.data(), scale.data(), epsilon, y.data,
                      rstd.data());
    ++count().kernels;
  }
  void describe(statement_value& to, statement_contraction&) const override {
    to.kind = value_kind::rms_norm;
  }

  void vjp(value& y, handle const& dy, gradient_sink& sink) const override {
    handle const& x = y.inputs[0];
    handle const scale = scale_of(y);
    if (is_recorded(x, dy, scale)) {
      composed(x, scale, dy, sink);
      return;
    }
    norm_rows const rows(y);
    packed_operand const x_in(x);
    packed_operand const scale_in(scale);
    evaluate(dy);
    packed_operand const dy_in(dy);
    handle const dx = sink.wants(x) ? norm_result(x) : handle();
    handle const dscale = has_scale && sink.wants(scale) ? norm_result(scale) : handle();
    kernels::rms_norm_backward(y.type, rows.count, rows.width, x_in.data(), scale_in.data(),
                               rstd.data(), dy_in.data(), data_or_null(dx), data_or_null(dscale));
    ++count().kernels;
    if (dx) sink.add(x, dx);
    if (dscale) sink.add(scale, dscale);
  }

  // The same in the language, so that it has gradients itself.
  void composed(handle const& x, handle const& scale, handle const& dy, gradient_sink& sink) const {
    handle const inverse =
        apply(opcode::rsqrt, plus(mean_of_row(apply(opcode::square, x)), epsilon));
    handle const n = times(x, inverse);
    if (sink.wants(x)) {
      handle const g = scale ? times(dy, scale) : dy;
      sink.add(x, times(minus(g, times(n, mean_of_row(times(g, n)))), inverse));
    }
    if (scale && sink.wants(scale)) sink.add(scale, sum_to(times(dy, n), scale));
  }
};

}  // namespace

handle rms_norm(handle const& x, handle const& scale, int axis, double epsilon) {
  value const& v = checked(x);
  check_norm_parameter("rms_norm", 2, x, axis, scale);
  dtype const type = kernel_dtype(v.type);
  handle inputs[2] = {with_axis_last(convert(x, type), axis)};
  if (scale) inputs[1] = convert(scale, type);
  value const& rows = *inputs[0].get();
  handle const y = new_operation(type, rows.axes_of(), rows.extents, "rms_norm",
                                 std::make_unique<rms_norm_rule>(epsilon, static_cast<bool>(scale)),
                                 inputs, scale ? 2 : 1);
  return convert(with_last_axis_at(y, v.axes_of(), axis), v.type);
}

}  // namespace ricci::graph
