#pragma once

#include <ricci/io/mapped_file.hpp>
#include <ricci/tensor/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ricci::io {

/// What a .npy file holds. The elements lie row-major at `data()`, little-endian, in the mapping;
/// `data()` need not be aligned to the element type when another program wrote the file.
struct npy_array {
  dtype type = dtype::u8;
  std::vector<std::int64_t> shape;  // empty for a single number
  std::int64_t count = 0;           // product of shape
  std::int64_t offset = 0;          // bytes before the first element
  mapped_file file;

  [[nodiscard]] std::byte const* data() const { return file.data() + offset; }
};

/// Maps a .npy file and checks its header.
///   Value   versions 1, 2 and 3 of the format; f64 f32 f16 i64 i32 i16 i8 u16 u8 and bool
///   Memory  none beside the mapping     Cost  reads the header (and every element of a bool array)
///   Errors  io_error naming the file and the fact: no .npy file, cut short, longer than its header
///           says, Fortran order, big-endian, a structured dtype or one that Ricci lacks, a shape
///           whose product overflows, a bool that is neither 0 nor 1
///   Source  NumPy Enhancement Proposal 1 and numpy.lib.format (versions 2 and 3)
npy_array read_npy(std::string path);

/// Whether the bytes begin as a .npy file does.
bool is_npy(std::span<std::byte const> bytes);

/// Writes a .npy file (version 1) that NumPy reads; the path is replaced as `atomic_file` does it.
///   Errors  value_error: a dtype that NumPy has no name for (bf16, f8), a shape with a negative
///           extent or whose product overflows; io_error: the file cannot be written
void write_npy(std::string const& path, dtype type, std::span<std::int64_t const> shape,
               void const* data);

}  // namespace ricci::io
