#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ricci {

/// The elementwise operations of a fused program. Ordered by arity; `opcodes` below names each.
///
/// Integers wrap around as fixed-width two's complement (also abs and neg of the lowest value);
/// their quotient truncates towards zero, and a quotient by zero is 0. Their power is by repeated
/// squaring, wrapped; with a negative exponent it is the truncated quotient 1 / x^|y|.
/// NaN propagates through minimum, maximum, clamp, relu and sign.
enum class opcode : std::uint8_t {
  // no source: the position along one axis of the result
  index,
  // one source
  convert,
  negate,
  absolute,
  sign,
  square,
  reciprocal,
  sqrt,
  rsqrt,
  exp,
  log,
  sin,
  cos,
  tanh,
  sigmoid,
  erf,
  relu,
  silu,
  gelu_tanh,
  gelu_erf,
  relu_grad,  // the derivatives at x of the functions of the same name
  silu_grad,
  gelu_tanh_grad,
  gelu_erf_grad,
  logical_not,
  // two sources
  add,
  subtract,
  multiply,
  divide,
  power,
  minimum,
  maximum,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  // three sources
  where,  // where(c, a, b) = c ? a : b, c boolean
  fma,    // a * b + c, one rounding where the machine has the instruction
  clamp,  // clamp(x, low, high) = min(max(x, low), high)
};

/// Number of enumerators of `opcode`.
inline constexpr int opcode_count = static_cast<int>(opcode::clamp) + 1;

/// What an opcode is called, how many sources it reads, and on which types it is defined.
struct opcode_facts {
  std::string_view name;
  std::uint8_t arity;
  bool on_floats;    // f32, f64
  bool on_integers;  // i64 i32 i16 i8 u16 u8
  bool on_boolean;
  bool gives_boolean;  // the result is boolean whatever the sources are
};

/// The facts of every opcode, in the order of the enumerators.
inline constexpr std::array<opcode_facts, opcode_count> opcodes{{
    {"index", 0, false, true, false, false},
    {"convert", 1, true, true, true, false},
    {"negate", 1, true, true, false, false},
    {"absolute", 1, true, true, false, false},
    {"sign", 1, true, true, false, false},
    {"square", 1, true, true, false, false},
    {"reciprocal", 1, true, true, false, false},
    {"sqrt", 1, true, false, false, false},
    {"rsqrt", 1, true, false, false, false},
    {"exp", 1, true, false, false, false},
    {"log", 1, true, false, false, false},
    {"sin", 1, true, false, false, false},
    {"cos", 1, true, false, false, false},
    {"tanh", 1, true, false, false, false},
    {"sigmoid", 1, true, false, false, false},
    {"erf", 1, true, false, false, false},
    {"relu", 1, true, true, false, false},
    {"silu", 1, true, false, false, false},
    {"gelu_tanh", 1, true, false, false, false},
    {"gelu_erf", 1, true, false, false, false},
    {"relu_grad", 1, true, true, false, false},
    {"silu_grad", 1, true, false, false, false},
    {"gelu_tanh_grad", 1, true, false, false, false},
    {"gelu_erf_grad", 1, true, false, false, false},
    {"logical_not", 1, false, false, true, true},
    {"add", 2, true, true, false, false},
    {"subtract", 2, true, true, false, false},
    {"multiply", 2, true, true, false, false},
    {"divide", 2, true, true, false, false},
    {"power", 2, true, true, false, false},
    {"minimum", 2, true, true, true, false},
    {"maximum", 2, true, true, true, false},
    {"less", 2, true, true, true, true},
    {"less_equal", 2, true, true, true, true},
    {"greater", 2, true, true, true, true},
    {"greater_equal", 2, true, true, true, true},
    {"equal", 2, true, true, true, true},
    {"not_equal", 2, true, true, true, true},
    {"logical_and", 2, false, false, true, true},
    {"logical_or", 2, false, false, true, true},
    {"where", 3, true, true, true, false},
    {"fma", 3, true, true, false, false},
    {"clamp", 3, true, true, false, false},
}};

[[nodiscard]] constexpr opcode_facts const& facts_of(opcode op) noexcept {
  return opcodes[static_cast<std::size_t>(op)];
}

/// The opcode's name, as enumerated.
[[nodiscard]] constexpr std::string_view name_of(opcode op) noexcept { return facts_of(op).name; }

/// How many sources the opcode reads: 0 to 3.
[[nodiscard]] constexpr int arity_of(opcode op) noexcept { return facts_of(op).arity; }

}  // namespace ricci
