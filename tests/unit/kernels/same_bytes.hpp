#pragma once

#include <cstddef>
#include <cstring>

/// std::memcmp() == 0 that also takes the null pointers of empty vectors.
inline bool same_bytes(void const* a, void const* b, std::size_t count) {
  return count == 0 || std::memcmp(a, b, count) == 0;
}
