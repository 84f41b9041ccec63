#pragma once

#include <cmath>

#include "kernels/attention/tile_product.hpp"
#include "kernels/attention/tiles.hpp"
#include "kernels/simd/exp.hpp"

namespace ricci::kernels::tile {

/// Workspace of one task of the forward pass; every tile is [row, Vecs vectors of queries].
template <class C, int Vecs, bool Converts> struct forward_room {
  std::int64_t const width;  // head_dim in whole vectors
  scratch<C> const all;
  C* const query = all.data();                                  // [width, queries]
  C* const sum = query + width * query_block<C, Vecs>;          // [width, queries]
  C* const scores = sum + width * query_block<C, Vecs>;         // [key_block, queries]
  C* const keys = scores + key_block * query_block<C, Vecs>;    // [key_block, width]
  C* const values = keys + (Converts ? key_block * width : 0);  // [key_block, width]

  explicit forward_room(std::int64_t head_dim)
      : width(padded<C>(head_dim)),
        all((2 * width + key_block) * query_block<C, Vecs> +
            (Converts ? 2 * key_block * width : 0)) {}
};

/// scores = 2^(scores - max) for the running maximum over all keys so far; sum and total, scaled to
/// the new maximum, gain nothing yet but the tile's own exponentials in total.
template <class C, int Vecs> void exponentiate(std::int64_t keys, std::int64_t width, C* scores,
                                               vec<C> (&top)[Vecs], vec<C> (&total)[Vecs], C* sum) {
  constexpr int n = simd::lanes<C>;
  constexpr C none = -std::numeric_limits<C>::infinity();
  for (int j = 0; j < Vecs; ++j) {
    vec<C> highest = top[j];
    for (std::int64_t r = 0; r < keys; ++r)
      highest = simd::max<C>(simd::load<C>(scores + (r * Vecs + j) * n), highest);
    // A query without a visible key keeps -infinity, which must not meet itself in a difference.
    vec<C> const base = simd::select<C>(highest == none, vec<C>{}, highest);
    vec<C> const rescale = simd::exp2<C>(top[j] - base);
    vec<C> part{};
    for (std::int64_t r = 0; r < keys; ++r) {
      C* const at = scores + (r * Vecs + j) * n;
      vec<C> const weight = simd::exp2<C>(simd::load<C>(at) - base);
      part += weight;
      simd::store<C>(at, weight);
    }
    total[j] = total[j] * rescale + part;
    top[j] = highest;
    for (std::int64_t c = 0; c < width; ++c) {
      C* const at = sum + (c * Vecs + j) * n;
      simd::store<C>(at, simd::load<C>(at) * rescale);
    }
  }
}

/// One block of queries of one head against all keys it sees.
template <class C, int Vecs, class T>
void attend_block(attention_problem const& p, std::int64_t first_query, T const* q,
                  std::int64_t q_step, T const* k, std::int64_t k_step, T const* v,
                  std::int64_t v_step, T* y, std::int64_t y_step, C* lse) {
  constexpr int n = simd::lanes<C>;
  constexpr std::int64_t queries = query_block<C, Vecs>;
  constexpr C log2_e = C(1.4426950408889634);
  constexpr C ln_2 = C(0.6931471805599453);
  constexpr C none = -std::numeric_limits<C>::infinity();
  std::int64_t const d = p.head_dim;
  std::int64_t const rows = p.seq_q - first_query < queries ? p.seq_q - first_query : queries;
  forward_room<C, Vecs, !std::is_same_v<T, C>> const room(d);

  pack_transposed<C, Vecs>(rows, d, q + first_query * q_step, q_step, C(p.scale) * log2_e,
                           room.query);
  for (std::int64_t i = 0; i < room.width * queries; ++i) room.sum[i] = C(0);
  vec<C> top[Vecs];
  vec<C> total[Vecs];
  for (int j = 0; j < Vecs; ++j) {
    top[j] = simd::fill<C>(none);
    total[j] = vec<C>{};
  }

  std::int64_t const limit = visible_keys(p, first_query + rows);
  for (std::int64_t first = 0; first < limit; first += key_block) {
    std::int64_t const keys = limit - first < key_block ? limit - first : key_block;
    std::int64_t k_tile_step = k_step;
    std::int64_t v_tile_step = v_step;
    C const* const k_tile = rows_as<C>(keys, d, k + first * k_step, k_tile_step, room.keys);
    C const* const v_tile = rows_as<C>(keys, d, v + first * v_step, v_tile_step, room.values);
    multiply<C, a_layout::rows_by_depth, Vecs>(keys, d, k_tile, k_tile_step, room.query, queries,
                                               room.scores, queries, false);
    if (p.causal) hide_later_keys<C, Vecs>(p, first_query, first, keys, room.scores);
    exponentiate<C, Vecs>(keys, d, room.scores, top, total, room.sum);
    multiply<C, a_layout::depth_by_rows, Vecs>(d, keys, v_tile, v_tile_step, room.scores, queries,
                                               room.sum, queries, true);
  }

  C inverse[queries];
  for (int j = 0; j < Vecs; ++j)
    for (int i = 0; i < n; ++i) {
      std::int64_t const row = j * n + i;
      C const weight = total[j][i];
      bool const empty = top[j][i] == none;
      inverse[row] = empty ? C(0) : C(1) / weight;
      if (row < rows) lse[first_query + row] = empty ? none : top[j][i] * ln_2 + std::log(weight);
    }
  unpack_transposed<C, Vecs>(rows, d, room.sum, inverse, y + first_query * y_step, y_step);
}

}  // namespace ricci::kernels::tile
