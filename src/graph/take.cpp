#include <string>

#include <ricci/error/exceptions.hpp>

#include "kernels/embedding/embedding.hpp"
#include "src/graph/rows.hpp"

namespace ricci::graph {
namespace {

kernels::index_list list_of(handle const& ids, packed_operand const& packed) {
  return {ids->type, ids->count, packed.data()};
}

// y: the rows of a table that ids name.
struct take_rule final : operation {
  explicit take_rule(int axis) : axis(axis) {}
  int axis;
  void compute(value& y) const override;
  void vjp(value& y, handle const& dy, gradient_sink& sink) const override;
  void describe(statement_value& to, statement_contraction&) const override {
    to.kind = value_kind::take;
    to.axis = static_cast<std::int8_t>(axis);
  }
};

// Its transpose: each row of the result is the sum of those of x whose id it is.
struct add_at_rule final : operation {
  explicit add_at_rule(int axis) : axis(axis) {}
  int axis;
  void compute(value& y) const override;
  void vjp(value& y, handle const& dy, gradient_sink& sink) const override;
};

void take_rule::compute(value& y) const {
  value const& table = *y.inputs[0].get();
  packed_operand const rows(y.inputs[0]);
  packed_operand const ids(y.inputs[1]);
  axis_lines const lines(table, axis);
  allocate(y);
  try {
    kernels::take(lines.outer, lines.extent, lines.inner, size_of(y.type), rows.data(),
                  list_of(y.inputs[1], ids), y.data);
  } catch (index_error const& fault) {
    throw naming_axis(fault, table.axes[axis], y.inputs, 2);
  }
  ++count().kernels;
}

void take_rule::vjp(value& y, handle const& dy, gradient_sink& sink) const {
  handle const& table = y.inputs[0];
  if (!sink.wants(table)) return;
  dtype const type = kernel_dtype(y.type);
  handle inputs[] = {convert(dy, type), y.inputs[1]};
  sink.add(table, convert(new_operation(type, table->axes_of(), table->extents, "take",
                                        std::make_unique<add_at_rule>(axis), inputs, 2),
                          y.type));
}

void add_at_rule::compute(value& y) const {
  packed_operand const rows(y.inputs[0]);
  packed_operand const ids(y.inputs[1]);
  axis_lines const lines(y, axis);
  allocate(y);
  kernels::take_backward(y.type, lines.outer, lines.extent, lines.inner, rows.data(),
                         list_of(y.inputs[1], ids), y.data);
  ++count().kernels;
}

void add_at_rule::vjp(value& y, handle const& dy, gradient_sink& sink) const {
  if (sink.wants(y.inputs[0]))
    sink.add(y.inputs[0], take(dy, y.inputs[1], y.inputs[0]->axes_of(), axis));
}

}  // namespace

handle take(handle const& table, handle const& ids, axes_view axes, int axis) {
  value const& t = checked(table);
  value const& i = checked(ids);
  if (!is_integer(i.type))
    throw value_error("take: the positions are " + std::string(name_of(i.type)) +
                      ", they have to be integers");
  std::int64_t extents[max_rank];
  for (int a = 0; a < axes.rank; ++a)
    extents[a] = a < axis            ? t.extents[a]
                 : a < axis + i.rank ? i.extents[a - axis]
                                     : t.extents[a - i.rank + 1];
  handle inputs[] = {table, ids};
  return new_operation(t.type, axes, extents, "take", std::make_unique<take_rule>(axis), inputs, 2);
}

}  // namespace ricci::graph
