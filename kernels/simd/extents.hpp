#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include <ricci/error/exceptions.hpp>

namespace ricci::kernels {

/// Number of elements of the extents.
///   Errors  shape_error, naming `who`: a negative extent, or a product beyond 2^62
inline std::int64_t checked_count(std::initializer_list<std::int64_t> extents, char const* who) {
  constexpr std::int64_t largest = std::int64_t{1} << 62;
  std::string shape;
  for (std::int64_t const extent : extents) {
    if (!shape.empty()) shape += ' ';
    shape += std::to_string(extent);
  }
  std::int64_t count = 1;
  for (std::int64_t const extent : extents) {
    if (extent < 0)
      throw shape_error(std::string(who) + ": the extents [" + shape +
                        "] hold a negative one; an extent is at least 0.");
    if (__builtin_mul_overflow(count, extent, &count) || count > largest)
      throw shape_error(std::string(who) + ": the extents [" + shape +
                        "] have more elements than 64 bits can count.");
  }
  return count;
}

}  // namespace ricci::kernels
