#include <cmath>
#include <numbers>

#include "src/graph/compose.hpp"
#include "src/graph/gradient.hpp"

namespace ricci::graph {
namespace {

handle compared(opcode op, handle const& x, handle const& y, dtype as) {
  return convert(apply(op, x, y), as);
}

// The second derivatives, of primitives only, so that every further derivative exists.

handle silu_second(handle const& x) {
  handle const s = apply(opcode::sigmoid, x);
  // s (1 - s) (2 + x (1 - 2 s))
  return times(times(s, one_minus(s)), plus(times(x, one_minus(times(s, 2))), 2));
}

handle gelu_tanh_second(handle const& x) {
  constexpr double a = 0.044715;
  double const c = std::sqrt(2 / std::numbers::pi);
  handle const square = apply(opcode::square, x);
  // gelu = x (1 + t) / 2 with t = tanh(u), u = c (x + a x^3)
  handle const t = apply(opcode::tanh, times(times(x, plus(times(square, a), 1)), c));
  handle const u1 = times(plus(times(square, 3 * a), 1), c);
  handle const half_x_u2 = times(square, 3 * a * c);  // x u'' / 2
  handle const inner = minus(plus(u1, half_x_u2), times(times(x, t), apply(opcode::square, u1)));
  return times(one_minus(apply(opcode::square, t)), inner);
}

handle gelu_erf_second(handle const& x) {
  handle const square = apply(opcode::square, x);
  handle const density =
      times(apply(opcode::exp, times(square, -0.5)), 1 / std::sqrt(2 * std::numbers::pi));
  return times(density, minus(number_like(x, 2), square));
}

// d y / d x, for functions of one argument; none where it is zero.
handle derivative(opcode op, handle const& x, handle const& y) {
  switch (op) {
    case opcode::absolute:
      return apply(opcode::sign, x);
    case opcode::square:
      return times(x, 2);
    case opcode::reciprocal:
      return negated(apply(opcode::square, y));
    case opcode::sqrt:
      return times(apply(opcode::reciprocal, y), 0.5);
    case opcode::rsqrt:
      return times(times(y, apply(opcode::square, y)), -0.5);
    case opcode::exp:
      return y;
    case opcode::log:
      return apply(opcode::reciprocal, x);
    case opcode::sin:
      return apply(opcode::cos, x);
    case opcode::cos:
      return negated(apply(opcode::sin, x));
    case opcode::tanh:
      return one_minus(apply(opcode::square, y));
    case opcode::sigmoid:
      return times(y, one_minus(y));
    case opcode::erf:
      return times(apply(opcode::exp, negated(apply(opcode::square, x))),
                   2 / std::sqrt(std::numbers::pi));
    case opcode::relu:
      return apply(opcode::relu_grad, y);
    case opcode::silu:
      return apply(opcode::silu_grad, x);
    case opcode::gelu_tanh:
      return apply(opcode::gelu_tanh_grad, x);
    case opcode::gelu_erf:
      return apply(opcode::gelu_erf_grad, x);
    case opcode::silu_grad:
      return silu_second(x);
    case opcode::gelu_tanh_grad:
      return gelu_tanh_second(x);
    case opcode::gelu_erf_grad:
      return gelu_erf_second(x);
    default:
      return {};
  }
}

// x^p: the exponent of a constant is not asked, so a negative x gives no NaN there.
handle power_by_base(handle const& x, handle const& p, handle const& dy) {
  if (p->is_number() && p->floating == 2) return times(dy, times(x, 2));
  handle const slope = times(p, apply(opcode::power, x, minus(p, number_like(p, 1))));
  if (p->is_number() && p->floating != 0) return times(dy, slope);
  return apply(opcode::where, apply(opcode::equal, p, number_like(p, 0)), number_like(dy, 0),
               times(dy, slope));
}
handle power_by_exponent(handle const& x, handle const& y, handle const& p, handle const& dy) {
  handle const zero = number_like(x, 0);
  handle const flat = apply(opcode::logical_and, apply(opcode::equal, x, zero),
                            apply(opcode::greater_equal, p, zero));
  return apply(opcode::where, flat, number_like(dy, 0), times(dy, times(y, apply(opcode::log, x))));
}

// One half each where both are equal.
handle chosen(opcode strictly, opcode weakly, handle const& x, handle const& y, handle const& dy) {
  return times(
      dy, times(plus(compared(strictly, x, y, dy->type), compared(weakly, x, y, dy->type)), 0.5));
}

}  // namespace

handle sum_to(handle const& gradient, handle const& x) {
  value const& g = *gradient.get();
  axis_info const* kept[max_rank];
  std::uint32_t reduced = 0;
  int rank = 0;
  bool in_order = true;
  for (int i = 0; i < g.rank; ++i) {
    int const at = find_axis(*x.get(), g.axes[i]);
    if (at < 0) {
      reduced |= std::uint32_t{1} << i;
      continue;
    }
    in_order = in_order && at == rank;
    kept[rank++] = g.axes[i];
  }
  handle result = gradient;
  if (reduced != 0)
    result = reduce(reduction::sum, result, in_order ? x->axes_of() : intern(kept, rank), reduced,
                    g.type);
  if (in_order) return result;
  std::int8_t permutation[max_rank];
  for (int i = 0; i < rank; ++i) {
    int from = 0;
    while (kept[from] != x->axes[i]) ++from;
    permutation[i] = static_cast<std::int8_t>(from);
  }
  return permute(result, x->axes_of(), permutation);
}

bool vjp_needs_result(opcode op) {
  switch (op) {
    case opcode::reciprocal:
    case opcode::sqrt:
    case opcode::rsqrt:
    case opcode::exp:
    case opcode::tanh:
    case opcode::sigmoid:
    case opcode::relu:
    case opcode::divide:
    case opcode::power:
      return true;
    default:
      return false;
  }
}

bool vjp_needs_input(value const& y, int i) {
  auto const is_differentiated = [&](int k) { return y.inputs[k]->levels != 0; };
  switch (y.op) {
    case opcode::convert:
    case opcode::negate:
    case opcode::add:
    case opcode::subtract:
    case opcode::reciprocal:
    case opcode::sqrt:
    case opcode::rsqrt:
    case opcode::exp:
    case opcode::tanh:
    case opcode::sigmoid:
    case opcode::relu:
      return false;
    case opcode::multiply:
      return is_differentiated(1 - i);
    case opcode::fma:
      return i < 2 && is_differentiated(1 - i);
    case opcode::divide:
      return i == 1;
    case opcode::where:
      return i == 0;
    default:
      return true;
  }
}

void pointwise_vjp(value& self, handle const& dy, gradient_sink& sink) {
  handle const y = same(self);
  handle const* const in = self.inputs;
  auto const give = [&](int i, handle const& contribution) {
    // A number has the axes of nothing: the gradient of a result with axes has them.
    handle full_gradient = contribution;
    if (full_gradient->rank < self.rank) full_gradient = broadcast_to(full_gradient, y);
    sink.add(in[i], sum_to(full_gradient, in[i]));
  };
  auto const wants = [&](int i) { return sink.wants(in[i]); };
  handle const zero = number_like(dy, 0);
  switch (self.op) {
    case opcode::convert:
      if (wants(0)) give(0, convert(dy, in[0]->type));
      return;
    case opcode::negate:
      give(0, negated(dy));
      return;
    case opcode::add:
      if (wants(0)) give(0, dy);
      if (wants(1)) give(1, dy);
      return;
    case opcode::subtract:
      if (wants(0)) give(0, dy);
      if (wants(1)) give(1, negated(dy));
      return;
    case opcode::multiply:
      if (wants(0)) give(0, times(dy, in[1]));
      if (wants(1)) give(1, times(dy, in[0]));
      return;
    case opcode::divide:
      if (wants(0)) give(0, apply(opcode::divide, dy, in[1]));
      if (wants(1)) give(1, negated(times(dy, apply(opcode::divide, y, in[1]))));
      return;
    case opcode::power:
      if (wants(0)) give(0, power_by_base(in[0], in[1], dy));
      if (wants(1)) give(1, power_by_exponent(in[0], y, in[1], dy));
      return;
    case opcode::minimum:
      if (wants(0)) give(0, chosen(opcode::less, opcode::less_equal, in[0], in[1], dy));
      if (wants(1)) give(1, chosen(opcode::less, opcode::less_equal, in[1], in[0], dy));
      return;
    case opcode::maximum:
      if (wants(0)) give(0, chosen(opcode::greater, opcode::greater_equal, in[0], in[1], dy));
      if (wants(1)) give(1, chosen(opcode::greater, opcode::greater_equal, in[1], in[0], dy));
      return;
    case opcode::where:
      if (wants(1)) give(1, apply(opcode::where, in[0], dy, zero));
      if (wants(2)) give(2, apply(opcode::where, in[0], zero, dy));
      return;
    case opcode::fma:
      if (wants(0)) give(0, times(dy, in[1]));
      if (wants(1)) give(1, times(dy, in[0]));
      if (wants(2)) give(2, dy);
      return;
    case opcode::clamp: {
      handle const above = apply(opcode::greater, in[0], in[2]);
      handle const below = apply(opcode::less, in[0], in[1]);
      if (wants(0))
        give(0, apply(opcode::where, apply(opcode::logical_or, above, below), zero, dy));
      if (wants(1)) give(1, apply(opcode::where, below, dy, zero));
      if (wants(2)) give(2, apply(opcode::where, above, dy, zero));
      return;
    }
    default:
      if (handle const slope = derivative(self.op, in[0], y)) give(0, times(dy, slope));
      return;
  }
}

}  // namespace ricci::graph
