#pragma once

#include <cstdint>

#include <ricci/tensor/dtype.hpp>
#include <ricci/tensor/opcode.hpp>

namespace ricci::kernels {

/// One operation over a block: out[i] = op(in[0][i], in[1][i], in[2][i]) for i < n. The pointers
/// are to elements of the types that the program says; out may be exactly one of the inputs.
using block_kernel = void (*)(void* out, void const* const* in, std::int64_t n);

/// The operations of the block interpreter: those of opcode, and what only it makes.
enum class block_opcode : std::uint8_t {
  multiply_subtract = opcode_count,  // a * b - c
  subtract_multiply,                 // c - a * b
};

[[nodiscard]] constexpr block_opcode block_op(opcode op) { return static_cast<block_opcode>(op); }

/// The kernel for an operation on sources of `type`, where bit i of `scalars` says that in[i] is
/// one element for the whole block. nullptr when there is none for these scalars (there is one for
/// no scalars), or none for the type.
block_kernel find_kernel(block_opcode op, dtype type, unsigned scalars);

/// The same per type, each in a source of its own.
block_kernel find_f32_kernel(block_opcode op, unsigned scalars);
block_kernel find_f64_kernel(block_opcode op, unsigned scalars);
block_kernel find_integer_kernel(block_opcode op, dtype type, unsigned scalars);
block_kernel find_boolean_kernel(block_opcode op, unsigned scalars);

}  // namespace ricci::kernels
