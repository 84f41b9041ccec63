#pragma once

#include <cstdint>

namespace ricci::graph {

inline constexpr int max_indices = 32;
inline constexpr int max_operands = 16;

/// A pattern bound to its operands' axes, as plain data (made by the typed layer at compile time).
/// Groups stand one after another in `code`, operands first, the result last:
///   group := number of axes, then for each axis: number of factors, then their index ids
/// (slowest factor first). An index id is 0 .. indices - 1.
struct pattern_spec {
  static constexpr int code_capacity = 256;

  char const* who = "";   // "einsum", "rearrange", ...
  char const* text = "";  // the pattern as written
  std::int16_t operands = 0;
  std::int16_t indices = 0;
  std::int16_t code_size = 0;
  std::int8_t code[code_capacity]{};
  std::int64_t extent[max_indices]{};     // where known at compile time, else -1
  char const* name[max_indices]{};        // of the index, not terminated; a number has size 0
  std::int8_t name_size[max_indices]{};
};

}  // namespace ricci::graph
