#pragma once

#include <cstdint>

#include "kernels/simd/vec.hpp"

/// Products of small tiles with their accumulators in registers: the inner loops of attention.
namespace ricci::kernels::tile {

using simd::vec;

/// Rows of one register block: with two vectors a row, 16 of 32 registers accumulate (8 of 16
/// before AVX-512), enough to hide the latency of the multiply-add.
inline constexpr int block_rows = simd::vector_bytes == 64 ? 8 : 4;

/// Which axis of `a` has unit stride.
enum class a_layout { rows_by_depth, depth_by_rows };

// c[r, lane] (+)= sum over p of a(r, p) * b[p, lane] for Rows rows and Vecs vectors of lanes;
// a(r, p) = a[r * a_step + p], or a[p * a_step + r] when depth_by_rows.
template <class C, a_layout Layout, int Rows, int Vecs>
RICCI_ALWAYS_INLINE void block(std::int64_t depth, C const* a, std::int64_t a_step, C const* b,
                               std::int64_t b_step, C* c, std::int64_t c_step, bool accumulate) {
  constexpr int n = simd::lanes<C>;
  vec<C> sum[Rows][Vecs];
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < Vecs; ++j) sum[r][j] = vec<C>{};
  for (std::int64_t p = 0; p < depth; ++p) {
    vec<C> column[Vecs];
    for (int j = 0; j < Vecs; ++j) column[j] = simd::load<C>(b + p * b_step + j * n);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      C const value = Layout == a_layout::rows_by_depth ? a[r * a_step + p] : a[p * a_step + r];
      vec<C> const spread = simd::fill<C>(value);
      for (int j = 0; j < Vecs; ++j) sum[r][j] += spread * column[j];
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < Vecs; ++j) {
      C* const to = c + r * c_step + j * n;
      simd::store<C>(to, accumulate ? simd::load<C>(to) + sum[r][j] : sum[r][j]);
    }
}

template <class C, a_layout Layout, int Rows, int Vecs>
RICCI_ALWAYS_INLINE std::int64_t blocks(std::int64_t row, std::int64_t rows, std::int64_t depth,
                                        C const* a, std::int64_t a_step, C const* b,
                                        std::int64_t b_step, C* c, std::int64_t c_step,
                                        bool accumulate) {
  std::int64_t const a_row = Layout == a_layout::rows_by_depth ? a_step : 1;
  for (; row + Rows <= rows; row += Rows)
    block<C, Layout, Rows, Vecs>(depth, a + row * a_row, a_step, b, b_step, c + row * c_step,
                                 c_step, accumulate);
  return row;
}

/// c[r, lane] (+)= sum over p of a(r, p) * b[p, lane]: rows x depth times depth x Vecs vectors.
///   Value   each element is summed in the order of p from zero, then added to c if `accumulate`:
///           the same bits however the rows are grouped
template <class C, a_layout Layout, int Vecs>
void multiply(std::int64_t rows, std::int64_t depth, C const* a, std::int64_t a_step, C const* b,
              std::int64_t b_step, C* c, std::int64_t c_step, bool accumulate) {
  std::int64_t row = 0;
  row = blocks<C, Layout, block_rows, Vecs>(row, rows, depth, a, a_step, b, b_step, c, c_step,
                                            accumulate);
  if constexpr (block_rows > 4)
    row = blocks<C, Layout, 4, Vecs>(row, rows, depth, a, a_step, b, b_step, c, c_step, accumulate);
  row = blocks<C, Layout, 2, Vecs>(row, rows, depth, a, a_step, b, b_step, c, c_step, accumulate);
  blocks<C, Layout, 1, Vecs>(row, rows, depth, a, a_step, b, b_step, c, c_step, accumulate);
}

}  // namespace ricci::kernels::tile
