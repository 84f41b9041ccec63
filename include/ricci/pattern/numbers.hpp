#pragma once

#include <cstdint>

#include <ricci/tensor/pattern_spec.hpp>

/// The extents of a pattern's numbers, behind everything else in its code: what a type that holds
/// the code as integers needs to know them.
namespace ricci::detail {

/// numbers := (id + 1, then eight bytes of its extent, lowest first) for each index without a name,
/// where there is room
constexpr void write_numbers(graph::pattern_spec& spec) {
  for (int id = 0; id < spec.indices; ++id) {
    if (spec.name_size[id] > 0) continue;
    // Where steering had no room, nothing must stand in its place.
    if (spec.code_size + 9 + 2 * graph::max_operands > graph::pattern_spec::code_capacity) return;
    spec.code[spec.code_size++] = static_cast<std::int8_t>(id + 1);
    for (int byte = 0; byte < 8; ++byte)
      spec.code[spec.code_size++] = static_cast<std::int8_t>(spec.extent[id] >> (8 * byte) & 255);
  }
}

/// The same read: a function of (id, extent) for each.
///   @pre  code stands behind groups and steering
template <class Take> constexpr void read_numbers(std::int8_t const* code, int size, Take take) {
  for (int at = 0; at + 9 <= size && code[at] != 0; at += 9) {
    std::int64_t extent = 0;
    for (int byte = 0; byte < 8; ++byte)
      extent |= static_cast<std::int64_t>(static_cast<std::uint8_t>(code[at + 1 + byte]))
                << (8 * byte);
    take(code[at] - 1, extent);
  }
}

}  // namespace ricci::detail
