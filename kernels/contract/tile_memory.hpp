#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/contract/panels.hpp"
#include "kernels/contract/places.hpp"

/// The memory of one thread of a tiled contraction. Private to kernels/contract.
namespace ricci::kernels::contraction {

// The largest tile.
struct tile_extents {
  std::int64_t rows, columns, depth;
  bool is_whole;  // k is not cut: sums are finished panel by panel
};

template <class Acc> struct tile_memory {
  using shape = panel_shape<Acc>;

  // Where memory is null, only `bytes` means something.
  tile_memory(tile_extents const& most, char* memory) : next_(memory) {
    std::int64_t const columns = padded_columns(most.columns);
    std::int64_t const panel = std::min<std::int64_t>(shape::rows, most.rows);
    a = take<Acc>(most.rows * most.depth);
    b = take<Acc>(columns * most.depth);
    c = take<Acc>((most.is_whole ? panel : most.rows) * columns);
    scratch = take<Acc>(columns);
    buffer = take<Acc>(std::max({columns, most.rows, shape::lanes * most.depth}));
    turned = take<Acc>(panel * columns);
    a_m = take_table(most.rows);
    b_n = take_table(most.columns);
    c_n = take_table(most.columns);
    a_k = take_table(most.depth);
    b_k = take_table(most.depth);
    c_m = take<std::int64_t>(most.rows);
    order = take<std::int64_t>(most.columns);
    ordered = take<std::int64_t>(most.columns);
    for (int i = 0; i < 2; ++i) {
      addend_m[i] = take<std::int64_t>(most.rows);
      addend_n[i] = take<std::int64_t>(most.columns);
    }
  }

  static std::int64_t padded_columns(std::int64_t n) {
    return (n + shape::lanes - 1) / shape::lanes * shape::lanes;
  }

  std::int64_t bytes = 0;
  Acc* a;        // panels of [depth, rows of the panel]
  Acc* b;        // panels of [depth, columns of the panel]
  Acc* c;        // sums until they are finished: [rows of a panel, or of the tile, columns]
  Acc* scratch;  // [columns]
  Acc* buffer;   // rows on their way into panels
  Acc* turned;   // a panel's sums in the result's order: [rows of a panel, columns]
  place_table a_m, b_n, c_n, a_k, b_k;
  std::int64_t* c_m;
  // The columns in the order in which they lie in the result, where that is another one.
  std::int64_t* order;
  std::int64_t* ordered;  // their offsets in the result
  std::int64_t* addend_m[2];
  std::int64_t* addend_n[2];

 private:
  // A cache line between what threads or kernels may read beyond.
  template <class T> T* take(std::int64_t count) {
    std::int64_t const size = (count * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64 + 64;
    char* const taken = next_;
    if (next_ != nullptr) next_ += size;
    bytes += size;
    return reinterpret_cast<T*>(taken);
  }
  place_table take_table(std::int64_t count) {
    return {take<std::int64_t>(count), take<std::int64_t>(count)};
  }

  char* next_;
};

}  // namespace ricci::kernels::contraction
