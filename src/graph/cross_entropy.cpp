#include "kernels/cross_entropy/cross_entropy.hpp"

#include <string>

#include <ricci/error/exceptions.hpp>

#include "src/graph/rows.hpp"

namespace ricci::graph {
namespace {

struct cross_entropy_rule final : operation {
  explicit cross_entropy_rule(int axis) : axis(axis) {}
  int axis;
  mutable storage_handle lse;  // kept for the gradient, one number a place

  void compute(value& y) const override {
    packed_operand const logits(y.inputs[0]);
    packed_operand const targets(y.inputs[1]);
    axis_lines const lines(*y.inputs[0].get(), axis);
    allocate(y);
    lse = ricci::allocate(y.count * size_of(statistics_dtype(y.type)));
    try {
      kernels::cross_entropy(y.type, lines.outer, lines.extent, lines.inner, logits.data(),
                             {y.inputs[1]->type, targets.data()}, y.data, lse.data());
    } catch (index_error const& fault) {
      throw naming_axis(fault, y.inputs[0]->axes[axis], y.inputs, 2);
    }
    if (y.levels == 0) lse = {};
    ++count().kernels;
  }
  void describe(statement_value& to, statement_contraction&) const override {
    to.kind = value_kind::cross_entropy;
    to.axis = static_cast<std::int8_t>(axis);
  }

  void vjp(value& y, handle const& dy, gradient_sink& sink) const override {
    handle const& x = y.inputs[0];
    handle const& targets = y.inputs[1];
    if (!sink.wants(x)) return;
    if (is_recorded(x, dy)) {
      handle const place = iota(dtype::i64, x->axes_of(), x->extents, axis);
      handle const hit =
          convert(apply(opcode::equal, place, convert(targets, dtype::i64)), x->type);
      sink.add(x, times(minus(softmax(x, axis), hit), dy));
      return;
    }
    // The logits are usually the largest tensor of a model: where nobody else has them, their
    // gradient takes their place.
    evaluate(dy);
    packed_operand const logits(x);
    packed_operand const classes(targets);
    packed_operand const losses(dy);
    handle const dx = new_value(x->type, x->axes_of());
    set_extents(*dx.get(), x->extents, "gradient");
    if (is_result_free(x))
      logits.allocate_result(*dx.get());
    else
      allocate(*dx.get());
    axis_lines const lines(*x.get(), axis);
    kernels::cross_entropy_backward(x->type, lines.outer, lines.extent, lines.inner, logits.data(),
                                    {targets->type, classes.data()}, lse.data(), losses.data(),
                                    dx->data);
    dx->evaluated = true;
    ++count().kernels;
    sink.add(x, dx);
  }
};

}  // namespace

handle cross_entropy(handle const& logits, handle const& targets, axes_view axes, int axis) {
  value const& x = checked(logits);
  value const& t = checked(targets);
  if (!is_integer(t.type))
    throw value_error("cross_entropy: the targets are " + std::string(name_of(t.type)) +
                      ", they have to be integers");
  std::int64_t extents[max_rank];
  std::int8_t permutation[max_rank];
  handle const operands[] = {logits, targets};
  for (int i = 0; i < axes.rank; ++i) {
    extents[i] = x.extents[i < axis ? i : i + 1];
    int const from = find_axis(t, axes.axes[i]);
    if (t.rank != axes.rank || from < 0)
      throw shape_error("cross_entropy: the targets have the axes of the logits but `" +
                        std::string(x.axes[axis]->view()) + "`" + shapes_text(operands, 2));
    if (t.extents[from] != extents[i])
      throw shape_error("cross_entropy: axis `" + std::string(axes.axes[i]->view()) +
                        "` has extent " + std::to_string(extents[i]) + " in operand 1 and " +
                        std::to_string(t.extents[from]) + " in operand 2" +
                        shapes_text(operands, 2));
    permutation[i] = static_cast<std::int8_t>(from);
  }
  dtype const type = kernel_dtype(x.type);
  handle inputs[] = {convert(logits, type), permute(targets, axes, permutation)};
  return convert(new_operation(type, axes, extents, "cross_entropy",
                               std::make_unique<cross_entropy_rule>(axis), inputs, 2),
                 x.type);
}

}  // namespace ricci::graph
