#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/copy/pieces.hpp"
#include "kernels/copy/square.hpp"

/// Private to kernels/copy: transposition of tiles whose rows lie anywhere.
namespace ricci::kernels {

/// Element (row, column) of the tile: the source has its columns side by side, the target its rows.
struct tile {
  std::int64_t rows, columns;
  std::int64_t const* source;  // [rows] bytes from the source's first to each row
  std::int64_t const* target;  // [columns] bytes from the target's first to each column
};

namespace detail {

// A line of each of as many rows as fill a vector.
template <class U, class Store>
RICCI_ALWAYS_INLINE void turn_lines(Store const& store, char* to, std::int64_t const* columns,
                                    char const* from, std::int64_t const* rows) {
  constexpr int size = static_cast<int>(sizeof(U)), bytes = simd::vector_bytes;
  using P = pieces<U, bytes>;
  if constexpr (size >= 4) {
    transpose_square<U>([=](int r) { return from + rows[r]; },
                        [=](int c) { return to + columns[c]; }, store);
  } else {
    // More rows than registers: they are put together first, so that no line is fetched twice.
    alignas(64) char held[P::rows * bytes];
    for (int r = 0; r < P::rows; ++r) std::memcpy(held + r * bytes, from + rows[r], bytes);
    for (int part = 0; part < P::parts; ++part)
      turn_pieces<U, bytes>(
          load_whole{}, store, [&](int r) { return held + r * bytes + part * 16; },
          [=](int c) { return to + columns[part * P::width + c]; });
  }
}

template <class U, int Bytes, class Store>
RICCI_ALWAYS_INLINE void turn_rows(Store const& store, char* to, std::int64_t const* target,
                                   std::int64_t columns, char const* from,
                                   std::int64_t const* rows) {
  using P = pieces<U, Bytes>;
  constexpr int w = P::width;
  auto const turn = [&](auto const& load, std::int64_t first, int count) {
    turn_pieces<U, Bytes>(
        load, store, [=](int r) { return from + rows[r] + first * P::size; },
        [=](int c) { return to + target[first + c]; }, count);
  };
  std::int64_t i = 0;
  if constexpr (Bytes == simd::vector_bytes)
    for (; i + P::rows <= columns; i += P::rows)
      turn_lines<U>(store, to, target + i, from + i * P::size, rows);
  for (; i + w <= columns; i += w) turn(load_whole{}, i, w);
  if (i == columns) return;
  if (columns >= w)
    turn(load_whole{}, columns - w, w);
  else
    turn(load_part{first_bytes(columns * P::size)}, 0, static_cast<int>(columns));
}

// Fewer rows than fill a vector: the last one stands in for what is missing.
template <class U, int Bytes> void turn_few_rows(tile const& t, char* to, char const* from) {
  using P = pieces<U, Bytes>;
  std::int64_t rows[P::rows];
  for (std::int64_t r = 0; r < P::rows; ++r) rows[r] = t.source[std::min(r, t.rows - 1)];
  turn_rows<U, Bytes>(store_part{first_bytes(t.rows * P::size)}, to, t.target, t.columns, from,
                      rows);
}

}  // namespace detail

/// Copies a tile.
///   Memory  Streams: every column's elements fill whole lines of the target and pass the caches by
template <class U, bool Streams>
void transpose_tile(tile const& t, char* to, char const* from) {
  constexpr int bytes = simd::vector_bytes;
  constexpr std::int64_t rows = pieces<U, bytes>::rows, size = sizeof(U);
  if (t.rows < rows) {
    if (bytes > 16 && t.rows * size <= 16) return detail::turn_few_rows<U, 16>(t, to, from);
    if (bytes > 32 && t.rows * size <= 32) return detail::turn_few_rows<U, 32>(t, to, from);
    return detail::turn_few_rows<U, bytes>(t, to, from);
  }
  std::conditional_t<Streams && bytes == cache_line, store_streamed, store_whole> const store;
  // The last rows meet some of those before: they are written twice.
  for (std::int64_t done = 0; done < t.rows; done += rows) {
    std::int64_t const r = std::min(done, t.rows - rows);
    detail::turn_rows<U, bytes>(store, to + r * size, t.target, t.columns, from, t.source + r);
  }
}

}  // namespace ricci::kernels
