#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/contract/elements.hpp"
#include "kernels/simd/transpose.hpp"

/// Products of packed panels in registers, and how panels are packed from rows and columns.
namespace ricci::kernels::contraction {

template <class Acc> struct panel_shape {
  static constexpr int lanes = simd::lanes<Acc>;
  static constexpr int columns = 2 * lanes;                       // two vectors of a row
  static constexpr int rows = simd::vector_bytes == 64 ? 12 : 6;  // 24 of 32 registers, 12 of 16
};

// c[r, lane] (+)= sum over p of a[p, r] * b[p, lane]: Rows x Vectors vectors in registers.
template <class Acc, int Rows, int Vectors>
void multiply_panel(std::int64_t depth, Acc const* a, Acc const* b, Acc* c, std::int64_t c_step,
                    bool accumulate) {
  using vec = simd::vec<Acc>;
  constexpr int n = simd::lanes<Acc>;
  vec sum[Rows][Vectors];
#pragma GCC unroll 12
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) sum[r][v] = vec{};
  for (std::int64_t p = 0; p < depth; ++p, a += Rows, b += Vectors * n) {
    vec row[Vectors];
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) row[v] = simd::load<Acc>(b + v * n);
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r) {
      vec const spread = simd::fill<Acc>(a[r]);
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) sum[r][v] += spread * row[v];
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      Acc* const to = c + r * c_step + v * n;
      if (accumulate) sum[r][v] += simd::load<Acc>(static_cast<Acc const*>(to));
      simd::store<Acc>(to, sum[r][v]);
    }
  }
}

template <class Acc>
using panel_product = void (*)(std::int64_t, Acc const*, Acc const*, Acc*, std::int64_t, bool);

template <class Acc> panel_product<Acc> product_of_panels(int rows, int vectors) {
  static constexpr auto all = []<int... R>(std::integer_sequence<int, R...>) {
    struct table {
      panel_product<Acc> of[panel_shape<Acc>::rows][2];
    };
    return table{{{multiply_panel<Acc, R + 1, 1>, multiply_panel<Acc, R + 1, 2>}...}};
  }(std::make_integer_sequence<int, panel_shape<Acc>::rows>());
  return all.of[rows - 1][vectors - 1];
}

// Rows 0 ... count - 1 are shared out evenly among as few panels as hold them.
struct row_panels {
  std::int64_t panels, least, longer;  // the first `longer` ones have a row more

  row_panels(std::int64_t count, std::int64_t most)
      : panels((count + most - 1) / most), least(count / panels), longer(count % panels) {}
  int rows(std::int64_t i) const { return static_cast<int>(least + (i < longer)); }
  std::int64_t first(std::int64_t i) const { return i * least + std::min(i, longer); }
  int width(std::int64_t i) const { return rows(i); }
};

// Columns 0 ... count - 1 in panels of two vectors, the last one of one where that suffices.
template <class Acc> struct column_panels {
  using shape = panel_shape<Acc>;
  std::int64_t count, panels;

  explicit column_panels(std::int64_t count)
      : count(count), panels((count - 1) / shape::columns + 1) {}
  int rows(std::int64_t i) const {
    return static_cast<int>(std::min<std::int64_t>(shape::columns, count - first(i)));
  }
  std::int64_t first(std::int64_t i) const { return i * shape::columns; }
  int width(std::int64_t i) const { return rows(i) > shape::lanes ? shape::columns : shape::lanes; }
};

template <class Acc> RICCI_ALWAYS_INLINE void store_lanes(Acc* to, simd::vec<Acc> v, int count) {
  if (count == simd::lanes<Acc>) return simd::store<Acc>(to, v);
#if defined(__AVX512F__)
  if constexpr (sizeof(Acc) == 4)
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1u << count) - 1u),
                             reinterpret_cast<__m512i>(v));
  else
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>((1u << count) - 1u),
                             reinterpret_cast<__m512i>(v));
#else
  for (int i = 0; i < count; ++i) to[i] = v[i];
#endif
}

template <class Acc> RICCI_ALWAYS_INLINE simd::vec<Acc> load_lanes(Acc const* from, int count) {
  if (count == simd::lanes<Acc>) return simd::load<Acc>(from);
#if defined(__AVX512F__)
  if constexpr (sizeof(Acc) == 4)
    return reinterpret_cast<simd::vec<Acc>>(
        _mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << count) - 1u), from));
  else
    return reinterpret_cast<simd::vec<Acc>>(
        _mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << count) - 1u), from));
#else
  simd::vec<Acc> v{};
  for (int i = 0; i < count; ++i) v[i] = from[i];
  return v;
#endif
}

// to[p * width + r] = rows[r][p] for r < count, p < depth; lanes from count to `filled` are zeros.
//   @pre  count <= filled <= lanes
template <class Acc> void transpose_rows(Acc const* const* rows, int count, int filled,
                                         std::int64_t depth, Acc* to, std::int64_t width) {
  using vec = simd::vec<Acc>;
  constexpr int n = simd::lanes<Acc>;
  for (std::int64_t p = 0; p < depth; p += n) {
    int const size = static_cast<int>(std::min<std::int64_t>(n, depth - p));
    vec square[n];
#pragma GCC unroll 16
    for (int r = 0; r < n; ++r) square[r] = r < count ? load_lanes<Acc>(rows[r] + p, size) : vec{};
    simd::transpose<Acc>(square);
#pragma GCC unroll 16
    for (int q = 0; q < n; ++q)
      if (q < size) store_lanes<Acc>(to + (p + q) * width, square[q], filled);
  }
}

// to[r] = from[r] for r < count, zeros up to `filled`.
template <class Acc>
RICCI_ALWAYS_INLINE void copy_row(Acc const* from, int count, int filled, Acc* to) {
  constexpr int n = simd::lanes<Acc>;
  for (int r = 0; r < filled; r += n)
    store_lanes<Acc>(to + r, load_lanes<Acc>(from + r, std::clamp(count - r, 0, n)),
                     std::min(n, filled - r));
}

}  // namespace ricci::kernels::contraction
