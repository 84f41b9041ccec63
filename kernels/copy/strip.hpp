#pragma once

#include "kernels/copy/box_rows.hpp"
#include "kernels/copy/tile.hpp"

/// Private to kernels/copy: transposition of what no cache holds.
namespace ricci::kernels {

/// Bytes of the source's rows that a strip takes: lines are fetched in pairs.
template <class U> inline constexpr std::int64_t strip_bytes = sizeof(U) == 1 ? 64 : 128;

namespace detail {

// Every row of the target begins on a line, and a square fills a line of each.
template <class U> void strip_of_lines(box_rows const& b, char* target, char const* source) {
  constexpr std::int64_t rows = tile<U>::rows, columns = tile<U>::columns, size = sizeof(U);
  for (std::int64_t j = 0; j < b.inner; j += rows)
    for (std::int64_t i = 0; i < b.outer; i += columns)
      transpose_tile<U, true>(target + i * b.outer_target + j * size, b.outer_target,
                              source + j * b.inner_source + i * size, b.inner_source,
                              std::min(rows, b.inner - j), std::min(columns, b.outer - i));
}

// Rows that begin anywhere: gathered in L1, each as far from a line as in the target, so that whole
// lines leave; what a chunk leaves of its last line stays before the row for the next.
template <class U> void strip_of_rows(box_rows const& b, char* target, char const* source) {
  constexpr std::int64_t rows = tile<U>::rows, columns = tile<U>::columns, size = sizeof(U);
  constexpr std::int64_t chunk_bytes = 256, chunk = chunk_bytes / size;
  // Congruent to the target's, which makes every row's distance from a line the target's.
  std::int64_t const shear = (b.outer_target % cache_line + cache_line) % cache_line;
  std::int64_t const pitch = chunk_bytes + cache_line + shear;
  alignas(64) char gathered[strip_bytes<U> / size * (chunk_bytes + 2 * cache_line) + cache_line];
  char* const first = gathered + line_offset(target);
  for (std::int64_t j = 0; j < b.inner; j += chunk) {
    std::int64_t const length = std::min(chunk, b.inner - j);
    for (std::int64_t t = 0; t < length; t += rows)
      for (std::int64_t i = 0; i < b.outer; i += columns)
        transpose_tile<U>(first + i * pitch + t * size, pitch,
                          source + (j + t) * b.inner_source + i * size, b.inner_source,
                          std::min(rows, length - t), std::min(columns, b.outer - i));
    for (std::int64_t i = 0; i < b.outer; ++i) {
      char* const row = target + i * b.outer_target + j * size;
      std::int64_t const offset = line_offset(row);
      char* const to = row - offset;
      char* const from = first + i * pitch - offset;
      std::int64_t const end = offset + length * size;
      std::int64_t x = 0;
      if (j == 0 && offset > 0) {
        x = std::min(end, cache_line);
        std::memcpy(row, from + offset, static_cast<std::size_t>(x - offset));
      }
      for (; x + cache_line <= end; x += cache_line) stream_line(to + x, from + x);
      if (x < end)
        std::memcpy(j + length < b.inner ? from : to + x, from + x,
                    static_cast<std::size_t>(end - x));
    }
  }
}

}  // namespace detail

/// Transposes a strip past the caches: at most strip_bytes of the source's rows, the inner axis as
/// long as it is.
template <class U> void transpose_strip(box_rows const& b, char* target, char const* source) {
  if (tile<U>::fills_lines && line_offset(target) == 0 && b.outer_target % cache_line == 0)
    detail::strip_of_lines<U>(b, target, source);
  else
    detail::strip_of_rows<U>(b, target, source);
}

}  // namespace ricci::kernels
