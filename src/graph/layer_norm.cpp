#include "kernels/layer_norm/layer_norm.hpp"

#include "src/graph/norm.hpp"

namespace ricci::graph {
namespace {

struct layer_norm_rule final : operation {
  layer_norm_rule(double epsilon, bool has_scale, bool has_bias)
      : epsilon(epsilon), has_scale(has_scale), has_bias(has_bias) {}
  double epsilon;
  bool has_scale;
  bool has_bias;
  mutable storage_handle mean;  // kept for the gradient, one number a row
  mutable storage_handle rstd;

  handle const& scale_of(value const& y) const { return has_scale ? y.inputs[1] : none; }
  handle const& bias_of(value const& y) const { return has_bias ? y.inputs[1 + has_scale] : none; }

  void compute(value& y) const override {
    norm_rows const rows(y);
    packed_operand const x(y.inputs[0]);
    packed_operand const scale(scale_of(y));
    packed_operand const bias(bias_of(y));
    if (y.levels != 0) {
      mean = ricci::allocate(rows.count * size_of(statistics_dtype(y.type)));
      rstd = ricci::allocate(rows.count * size_of(statistics_dtype(y.type)));
    }
    x.allocate_result(y);
    kernels::layer_norm(y.type, rows.count, rows.width, x.data(), scale.data(), bias.data(),
                        epsilon, y.data, mean.data(), rstd.data());
    ++count().kernels;
  }
  void describe(statement_value& to, statement_contraction&) const override {
    to.kind = value_kind::layer_norm;
  }

  void vjp(value& y, handle const& dy, gradient_sink& sink) const override {
    handle const& x = y.inputs[0];
    handle const scale = scale_of(y);
    handle const bias = bias_of(y);
    if (is_recorded(x, dy, scale)) {
      composed(x, scale, bias, dy, sink);
      return;
    }
    norm_rows const rows(y);
    packed_operand const x_in(x);
    packed_operand const scale_in(scale);
    evaluate(dy);
    packed_operand const dy_in(dy);
    handle const dx = sink.wants(x) ? norm_result(x) : handle();
    handle const dscale = has_scale && sink.wants(scale) ? norm_result(scale) : handle();
    handle const dbias = has_bias && sink.wants(bias) ? norm_result(bias) : handle();
    kernels::layer_norm_backward(y.type, rows.count, rows.width, x_in.data(), scale_in.data(),
                                 mean.data(), rstd.data(), dy_in.data(), data_or_null(dx),
                                 data_or_null(dscale), data_or_null(dbias));
    ++count().kernels;
    if (dx) sink.add(x, dx);
    if (dscale) sink.add(scale, dscale);
    if (dbias) sink.add(bias, dbias);
  }

  // The same in the language, so that it has gradients itself.
  void composed(handle const& x, handle const& scale, handle const& bias, handle const& dy,
                gradient_sink& sink) const {
    handle const centered = minus(x, mean_of_row(x));
    handle const inverse =
        apply(opcode::rsqrt, plus(mean_of_row(apply(opcode::square, centered)), epsilon));
    handle const n = times(centered, inverse);
    if (sink.wants(x)) {
      handle const g = scale ? times(dy, scale) : dy;
      handle const inner = minus(minus(g, mean_of_row(g)), times(n, mean_of_row(times(g, n))));
      sink.add(x, times(inner, inverse));
    }
    if (scale && sink.wants(scale)) sink.add(scale, sum_to(times(dy, n), scale));
    if (bias && sink.wants(bias)) sink.add(bias, sum_to(dy, bias));
  }
};

}  // namespace

handle layer_norm(handle const& x, handle const& scale, handle const& bias, int axis,
                  double epsilon) {
  value const& v = checked(x);
  check_norm_parameter("layer_norm", 2, x, axis, scale);
  check_norm_parameter("layer_norm", 3, x, axis, bias);
  dtype const type = kernel_dtype(v.type);
  handle inputs[3] = {with_axis_last(convert(x, type), axis)};
  int count = 1;
  if (scale) inputs[count++] = convert(scale, type);
  if (bias) inputs[count++] = convert(bias, type);
  value const& rows = *inputs[0].get();
  handle const y = new_operation(
      type, rows.axes_of(), rows.extents, "layer_norm",
      std::make_unique<layer_norm_rule>(epsilon, static_cast<bool>(scale), static_cast<bool>(bias)),
      inputs, count);
  return convert(with_last_axis_at(y, v.axes_of(), axis), v.type);
}

}  // namespace ricci::graph
