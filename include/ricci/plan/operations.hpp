#pragma once

#include <ricci/plan/statement.hpp>

/// How many operations an element costs. A convention, so that a cost is a fact about a program
/// and not about a machine.
namespace ricci {

/// An elementwise operation, by element of its result: 1, also where it is transcendental;
/// conversions, positions and choices compute nothing, clamp and fma are two.
constexpr int operations_of(opcode op) {
  switch (op) {
    case opcode::index:
    case opcode::convert:
    case opcode::where:
      return 0;
    case opcode::fma:
    case opcode::clamp:
      return 2;
    default:
      return 1;
  }
}

/// An operation with a kernel of its own, by element of its first operand (attention: by pair of
/// query and key, its two products aside; pairs that the mask hides count too).
///   Source  softmax: maximum, subtract, exp, sum, divide; the norms: the sums, square, multiply
///           and, where they are given, scale and shift; cross-entropy: maximum, subtract, exp, sum
constexpr int operations_of(value_kind kind, int parameters) {
  switch (kind) {
    case value_kind::softmax:
    case value_kind::log_softmax:
    case value_kind::attention:
      return 5;
    case value_kind::layer_norm:
      return 5 + parameters;
    case value_kind::rms_norm:
      return 3 + parameters;
    case value_kind::cross_entropy:
      return 4;
    case value_kind::reduction:
    case value_kind::cumsum:
      return 1;
    default:
      return 0;
  }
}

}  // namespace ricci
