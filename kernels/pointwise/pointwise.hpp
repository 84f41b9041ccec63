#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <ricci/tensor/dtype.hpp>
#include <ricci/tensor/opcode.hpp>

/// Fused elementwise programs as plain data. A program is a list of values: operands in memory,
/// numbers, and instructions that compute one value from up to three others. It runs as one pass
/// over the result's places, in blocks that stay in the L1 cache.
namespace ricci::kernels {

/// What one program may hold; whoever fuses splits before these are reached.
inline constexpr int max_pointwise_rank = 24;
inline constexpr int max_pointwise_operands = 32;
inline constexpr int max_pointwise_constants = 64;
inline constexpr int max_pointwise_instructions = 128;
inline constexpr int max_pointwise_outputs = 16;

/// Names a value of a program: the index-th of its operands, constants or instructions.
struct pointwise_value {
  enum class kind : std::uint8_t { operand, constant, instruction };
  kind from = kind::operand;
  std::uint8_t index = 0;

  static constexpr pointwise_value operand(int i) {
    return {kind::operand, static_cast<std::uint8_t>(i)};
  }
  static constexpr pointwise_value constant(int i) {
    return {kind::constant, static_cast<std::uint8_t>(i)};
  }
  static constexpr pointwise_value instruction(int i) {
    return {kind::instruction, static_cast<std::uint8_t>(i)};
  }
};

/// A view in memory, read at every place of the result.
struct pointwise_operand {
  void const* data;             // at place (0, ..., 0)
  dtype type;                   // as value: compute_type(type)
  std::int64_t const* strides;  // [rank], in elements; 0: the same element along that axis
};

/// A number of a compute type; `floating` counts for f32 and f64, `integer` for the others.
struct pointwise_constant {
  dtype type;
  double floating;
  std::int64_t integer;
};

/// One operation. `type` is the compute type of its sources (of where: of its arms), except
///   convert   the type to convert to, any dtype: to f16, bf16 or f8 gives f32 rounded to that type
///   index     the type of the position (an integer type); `axis` is the axis of the result
struct pointwise_instruction {
  opcode op;
  dtype type;
  std::uint8_t axis = 0;
  std::array<pointwise_value, 3> sources{};  // earlier values; the first arity_of(op) count
};

/// Where a value goes: packed row-major over the result's extents.
struct pointwise_output {
  pointwise_value source;
  dtype type;  // the value's compute type, or a narrow float for f32
  void* data;
};

/// All of it; refers to the caller's arrays.
struct pointwise_program {
  int rank = 0;
  std::int64_t const* extents = nullptr;  // [rank], of the result
  std::span<pointwise_operand const> operands{};
  std::span<pointwise_constant const> constants{};
  std::span<pointwise_instruction const> instructions{};
  std::span<pointwise_output const> outputs{};
};

/// The type a dtype is computed in: f32 for f16, bf16, f8; itself for the others.
[[nodiscard]] constexpr dtype compute_type(dtype type) {
  return is_floating(type) && type != dtype::f64 ? dtype::f32 : type;
}

/// The type of a value that the instruction computes.
[[nodiscard]] constexpr dtype result_type(pointwise_instruction const& instruction) {
  if (facts_of(instruction.op).gives_boolean) return dtype::boolean;
  return compute_type(instruction.type);
}

/// Runs a program over all places of its result.
///   Value   outputs[i] at each place is its value there; opcode.hpp says what each operation
///   gives.
///           A product used once, by an addition or subtraction, is fused into it (one rounding)
///   Dtype   f16, bf16 and f8 are computed in f32 and rounded once, when stored
///   Memory  scratch of at most 256 KiB per thread, kept. An output may be exactly an operand
///           (same data, packed, same type); other overlaps are not allowed
///   Cost    one read of each operand, also where its memory runs along another axis than the
///           result's, and one write of each output; on all threads from about 32,000 elements.
///           The bits do not depend on the number of threads
///   Errors  value_error: too many parts, an operation on a type that it has not, a source that
///           comes later or has another type; shape_error: negative extents or too many elements
void run(pointwise_program const& program);

}  // namespace ricci::kernels
