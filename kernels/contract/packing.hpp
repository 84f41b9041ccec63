#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/contract/panels.hpp"
#include "kernels/contract/places.hpp"

/// From an operand that lies in any way into panels. Private to kernels/contract.
namespace ricci::kernels::contraction {

// One of the two operands.
template <class Acc> struct packed_operand {
  void const* data;
  dtype type;
  load_function<Acc> load;
  bool is_by_k;  // k is the faster one of its directions

  packed_operand(void const* data, dtype type, bool is_by_k)
      : data(data), type(type), load(loader<Acc>(type)), is_by_k(is_by_k) {}

  Acc const* fetch(std::int64_t base, place_table const& table, std::int64_t count, Acc* buffer,
                   std::int64_t ahead = 0) const {
    return contraction::fetch(load, type, data, size_of(type), base, table, count, buffer, ahead);
  }
};

// Panel i of `panels` becomes [depth, panels.width(i)] at to + panels.first(i) * depth, where what
// lies beyond panels.rows(i) is zeros.
//   Axes    across: m or n; along: k; buffer: [lanes * depth] or all rows of the panels
template <class Acc, class Panels> void pack_panels(packed_operand<Acc> const& operand,
                                                    std::int64_t base, place_table const& across,
                                                    place_table const& along, std::int64_t depth,
                                                    Panels const& panels, Acc* to, Acc* buffer) {
  constexpr int lanes = panel_shape<Acc>::lanes;
  if (operand.is_by_k) {  // rows of k are transposed into panels
    for (std::int64_t i = 0; i < panels.panels; ++i) {
      std::int64_t const begin = panels.first(i);
      int const rows = panels.rows(i);
      int const width = panels.width(i);
      for (int first = 0; first < width; first += lanes) {
        int const count = std::min(lanes, rows - first);
        Acc const* of[lanes];
        for (int r = 0; r < count; ++r)
          of[r] = operand.fetch(base + across.offset[begin + first + r], along, depth,
                                buffer + r * depth);
        transpose_rows<Acc>(of, count, std::min(lanes, width - first), depth,
                            to + begin * depth + first, width);
      }
    }
    return;
  }
  std::int64_t const all = panels.first(panels.panels - 1) + panels.rows(panels.panels - 1);
  for (std::int64_t p = 0; p < depth; ++p) {
    // How far the row lies that is wanted a little later.
    std::int64_t const ahead = along.offset[std::min(p + 2, depth - 1)] - along.offset[p];
    Acc const* const row = operand.fetch(base + along.offset[p], across, all, buffer, ahead);
    for (std::int64_t i = 0; i < panels.panels; ++i) {
      std::int64_t const first = panels.first(i);
      int const width = panels.width(i);
      copy_row<Acc>(row + first, panels.rows(i), width, to + first * depth + p * width);
    }
  }
}

}  // namespace ricci::kernels::contraction
