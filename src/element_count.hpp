#pragma once

#include <ricci/tensor/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// Private to src/: what the readers and writers of array files check alike.
namespace ricci::io {

/// Product of the extents times the bytes of an element; nothing when an extent is negative or a
/// product overflows. Also a zero extent does not excuse an overflow of the others: whoever
/// multiplies in another order would meet it.
inline std::optional<std::int64_t> byte_count(std::span<std::int64_t const> shape, dtype type) {
  std::int64_t bytes = size_of(type);
  bool is_empty = false;
  for (std::int64_t const extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      is_empty = true;
    } else if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      return std::nullopt;
    }
  }
  return is_empty ? 0 : bytes;
}

/// The first of the bytes that is no C++ bool: reading it as one would be undefined.
inline std::optional<std::int64_t> find_no_boolean(std::byte const* bytes, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::to_integer<int>(bytes[i]) > 1) return i;
  }
  return std::nullopt;
}

}  // namespace ricci::io
