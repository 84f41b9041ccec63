#pragma once

#include <cstdint>
#include <string_view>

namespace ricci {

/// How a contraction of two operands runs: what `lowering::...` after a pattern forces. Whatever
/// runs takes diagonals as views and sums the indices that stand in one operand only first.
///   automatic     the cost model chooses among the others (plan/candidates.hpp)
///   loops         own loops on the operands as they lie: nothing is copied
///   gemm          matrix products on the operands as they lie; axes of m or n that do not merge
///                 become batch axes
///   pack_first_gemm, pack_second_gemm, pack_gemm
///                 operand 1, operand 2 or both are copied first, so that their axes merge
///   ..._permute   the product is computed beside the result, in the order that its operands
///                 have, and then permuted into it
enum class lowering_code : std::uint8_t {
  automatic = 0,
  loops = 1,
  gemm = 8,
  pack_first_gemm = 9,
  pack_second_gemm = 10,
  pack_gemm = 11,
  gemm_permute = 12,
  pack_first_gemm_permute = 13,
  pack_second_gemm_permute = 14,
  pack_gemm_permute = 15
};

/// The product of copies that a lowering makes: bit 0 operand 1, bit 1 operand 2, bit 2 the result.
constexpr bool packs_first(lowering_code c) {
  return static_cast<int>(c) >= 8 && static_cast<int>(c) & 1;
}
constexpr bool packs_second(lowering_code c) {
  return static_cast<int>(c) >= 8 && static_cast<int>(c) & 2;
}
constexpr bool permutes(lowering_code c) {
  return static_cast<int>(c) >= 8 && static_cast<int>(c) & 4;
}
constexpr lowering_code gemm_lowering(bool pack_first, bool pack_second, bool permute) {
  return static_cast<lowering_code>(8 + pack_first + 2 * pack_second + 4 * permute);
}

/// The spelling of a lowering, `pack_gemm`.
constexpr std::string_view name_of(lowering_code c) {
  constexpr std::string_view names[16] = {"automatic",
                                          "loops",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "gemm",
                                          "pack_first_gemm",
                                          "pack_second_gemm",
                                          "pack_gemm",
                                          "gemm_permute",
                                          "pack_first_gemm_permute",
                                          "pack_second_gemm_permute",
                                          "pack_gemm_permute"};
  return names[static_cast<int>(c)];
}

/// Types that stand after a pattern and fix how an einsum of two operands is lowered:
/// einsum<"i k, k j -> i j", lowering::loops>(a, b).
namespace lowering {

struct choice {};  // what all derive from
template <lowering_code C> struct choice_of : choice {
  static constexpr lowering_code code = C;
};

struct automatic : choice_of<lowering_code::automatic> {};
struct loops : choice_of<lowering_code::loops> {};
struct gemm : choice_of<lowering_code::gemm> {};
struct pack_first_gemm : choice_of<lowering_code::pack_first_gemm> {};
struct pack_second_gemm : choice_of<lowering_code::pack_second_gemm> {};
struct pack_gemm : choice_of<lowering_code::pack_gemm> {};
struct gemm_permute : choice_of<lowering_code::gemm_permute> {};
struct pack_first_gemm_permute : choice_of<lowering_code::pack_first_gemm_permute> {};
struct pack_second_gemm_permute : choice_of<lowering_code::pack_second_gemm_permute> {};
struct pack_gemm_permute : choice_of<lowering_code::pack_gemm_permute> {};

}  // namespace lowering

/// The order in which an einsum of several operands contracts them, by hand: pairs of positions in
/// the list of what is left, counted from 0; the result of a pair goes to the end of the list, as
/// in NumPy's einsum_path. einsum<"i j, j k, k l -> i l", path<1, 2, 0, 1>>(a, b, c) is a(bc).
template <int... Positions> struct path {};

}  // namespace ricci
