#pragma once

#include <ricci/tensor/graph.hpp>

#include "src/graph/value.hpp"

/// Private to src/graph: the language in small, for rules of differentiation. Everything is lazy.
namespace ricci::graph {

/// Another reference to a value.
inline handle same(value& v) {
  retain(&v);
  return handle(&v);
}

inline handle number_like(handle const& x, double number) {
  return constant(x->type, number, static_cast<std::int64_t>(number));
}
inline handle apply(opcode op, handle const& x) { return pointwise("gradient", op, &x, 1); }
inline handle apply(opcode op, handle const& x, handle const& y) {
  handle const operands[] = {x, y};
  return pointwise("gradient", op, operands, 2);
}
inline handle apply(opcode op, handle const& x, handle const& y, handle const& z) {
  handle const operands[] = {x, y, z};
  return pointwise("gradient", op, operands, 3);
}
inline handle plus(handle const& x, handle const& y) { return apply(opcode::add, x, y); }
inline handle minus(handle const& x, handle const& y) { return apply(opcode::subtract, x, y); }
inline handle times(handle const& x, handle const& y) { return apply(opcode::multiply, x, y); }
inline handle plus(handle const& x, double n) { return plus(x, number_like(x, n)); }
inline handle times(handle const& x, double n) { return n == 1 ? x : times(x, number_like(x, n)); }
inline handle one_minus(handle const& x) { return minus(number_like(x, 1), x); }
inline handle negated(handle const& x) { return apply(opcode::negate, x); }

/// Sums the axes away that x lacks, and brings the others into the order of x.
handle sum_to(handle const& gradient, handle const& x);
/// The sum over one axis.
handle sum_along(handle const& x, int axis);
/// x with new axes of stride 0, wherever `like` has axes that x lacks; in the order of `like`.
handle broadcast_to(handle const& x, handle const& like);
/// Is there an axis, at which place? -1 otherwise.
int find_axis(value const& v, axis_info const* axis);
/// Zeros like x.
handle zeros_like(handle const& x);
/// The axes of v without one.
axes_view axes_without(value const& v, int axis);

}  // namespace ricci::graph
