#pragma once

#include <cstdint>

namespace ricci::graph {

inline constexpr int max_indices = 32;
inline constexpr int max_operands = 16;

/// A pattern bound to its operands' axes, as plain data (made by the typed layer at compile time).
/// Groups stand one after another in `code`, operands first, the result last:
///   group := number of axes, then for each axis: number of factors, then their index ids
/// (slowest factor first). An index id is 0 .. indices - 1.
/// Behind the result an einsum has its steering (plan/lowering.hpp), zeros where nothing steers:
///   steering := lowering_code, number of positions, then the positions of its path: pairs in the
///               list of what is left, the lower one first (plan/order.hpp)
/// The path is there too where all extents are static: the order was then found while compiling.
/// Two operands have one order and no path. Then, of any word, its numbers (pattern/numbers.hpp).
struct pattern_spec {
  static constexpr int code_capacity = 256;

  char const* who = "";   // "einsum", "rearrange", ...
  char const* text = "";  // the pattern as written
  std::int16_t operands = 0;
  std::int16_t indices = 0;
  std::int16_t code_size = 0;
  std::int8_t code[code_capacity]{};
  std::int64_t extent[max_indices]{};  // where known at compile time, else -1
  char const* name[max_indices]{};     // of the index, not terminated; a number has size 0
  std::int8_t name_size[max_indices]{};

  /// The indices of each operand and of the result, as bits.
  ///   @pre  masks has room for operands + 1
  ///   @return where the groups end in `code`
  constexpr int read_masks(std::uint32_t* masks) const {
    int at = 0;
    for (int g = 0; g <= operands; ++g) {
      masks[g] = 0;
      for (int axes = code[at++]; axes > 0; --axes)
        for (int factors = code[at++]; factors > 0; --factors)
          masks[g] |= std::uint32_t{1} << code[at++];
    }
    return at;
  }
};

}  // namespace ricci::graph
