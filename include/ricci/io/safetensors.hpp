#pragma once

#include <ricci/io/mapped_file.hpp>
#include <ricci/tensor/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::io {

/// One tensor of a file: packed, row-major, little-endian.
struct stored_tensor {
  std::string name;
  dtype type = dtype::f32;
  std::vector<std::int64_t> shape;  // empty: one number
  void const* data = nullptr;       // [bytes]
  std::int64_t bytes = 0;           // product of shape times size_of(type)
};

/// Text that stands beside the tensors in a file, sorted by key.
using safetensors_metadata = std::map<std::string, std::string>;

/// A checkpoint: tensors, whose data lies in the mapping, and texts.
struct safetensors_file {
  std::vector<stored_tensor> tensors;  // in the order of their data
  safetensors_metadata metadata;
  mapped_file file;

  /// nullptr when there is none of that name.
  [[nodiscard]] stored_tensor const* find(std::string_view name) const;
};

/// Writes tensors and texts; the path is replaced as `atomic_file` does it: after a failure and
/// after a kill the previous file is whole.
///   Value   the data stands in the order of the element sizes, largest first, so that every tensor
///           is aligned to its elements; tensors of one element size keep the order given
///   Errors  value_error, naming the tensor: a name twice, empty, not UTF-8 or `__metadata__`;
///   bytes
///           that are not shape times dtype; a header over 100 MB. io_error: writing fails
///   Source  github.com/huggingface/safetensors, "Format"
void write_safetensors(std::string const& path, std::span<stored_tensor const> tensors,
                       safetensors_metadata const& metadata = {});

/// Maps a file and checks all of its header.
///   Memory  the header; the data stays in the mapping and is not read, but for BOOL
///   Errors  io_error naming the file, the tensor and the fact: cut short at any byte or followed
///   by
///           something, a header that is not what the format says, a key twice, a dtype that Ricci
///           lacks, data of the wrong size, overlapping, with a gap or outside the file, a product
///           that overflows, a BOOL that is neither 0 nor 1
safetensors_file read_safetensors(std::string path);

/// Position of the first NaN or infinity, if the tensor is of floating point and has one.
///   Cost    reads all of the tensor until it finds one
std::optional<std::int64_t> find_non_finite(stored_tensor const& tensor);

}  // namespace ricci::io
