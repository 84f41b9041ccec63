#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "kernels/attention/attention.hpp"
#include "kernels/simd/transpose.hpp"
#include "kernels/simd/vec.hpp"

/// How attention is cut into tiles. The lanes of a vector are queries: scores are kept as
/// [key, query], so that the softmax over keys needs no sum across lanes, and both products read
/// keys and values where they are, one broadcast element at a time.
namespace ricci::kernels::tile {

using simd::vec;

/// Keys of one tile: 64 rows of scores of 32 queries are 8 KiB, a quarter of the L1 cache.
inline constexpr std::int64_t key_block = 64;

/// Queries of one tile of Vecs vectors.
template <class C, int Vecs> inline constexpr std::int64_t query_block = Vecs * simd::lanes<C>;

constexpr std::int64_t blocks_of(std::int64_t extent, std::int64_t block) {
  return (extent + block - 1) / block;
}

/// head_dim rounded up to whole vectors: the row length of packed tiles.
template <class C> constexpr std::int64_t padded(std::int64_t extent) {
  return blocks_of(extent, simd::lanes<C>) * simd::lanes<C>;
}

/// The keys that at least one of the queries before `query_end` sees: [0, result).
inline std::int64_t visible_keys(attention_problem const& p, std::int64_t query_end) {
  if (!p.causal) return p.seq_k;
  std::int64_t const limit = query_end + (p.seq_k - p.seq_q);
  return limit < 0 ? 0 : (limit < p.seq_k ? limit : p.seq_k);
}

/// An uninitialized array on a cache line's boundary.
template <class C> class scratch {
 public:
  explicit scratch(std::int64_t count)
      : data_(static_cast<C*>(
            ::operator new(static_cast<std::size_t>(count) * sizeof(C), std::align_val_t{64}))) {}
  C* data() const { return data_.get(); }

 private:
  struct release {
    void operator()(C* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  std::unique_ptr<C, release> data_;
};

template <class T> T const* head_of(attention_input const& x, std::int64_t b, std::int64_t h) {
  return static_cast<T const*>(x.data) + b * x.batch_stride + h * x.head_stride;
}
template <class T> T* head_of(attention_output const& x, std::int64_t b, std::int64_t h) {
  return static_cast<T*>(x.data) + b * x.batch_stride + h * x.head_stride;
}

/// to[i, c] = from[i, c] for rows x width elements, converted; rows of to are to_step apart and
/// zero from width up to whole vectors.
template <class C, class T> void pack_rows(std::int64_t rows, std::int64_t width, T const* from,
                                           std::int64_t from_step, C* to, std::int64_t to_step) {
  constexpr int n = simd::lanes<C>;
  for (std::int64_t i = 0; i < rows; ++i) {
    T const* const row = from + i * from_step;
    std::int64_t c = 0;
    for (; c + n <= width; c += n) simd::store<C>(to + i * to_step + c, simd::load<C>(row + c));
    if (c < width)
      simd::store<C>(to + i * to_step + c, simd::load_first<C>(row + c, width - c, C(0)));
  }
}

/// Rows of an operand as C: where they are if they hold C, else converted into `room`.
template <class C, class T> C const* rows_as(std::int64_t rows, std::int64_t width, T const* from,
                                             std::int64_t& step, C* room) {
  if constexpr (std::is_same_v<T, C>) {
    return from;
  } else {
    pack_rows<C>(rows, width, from, step, room, padded<C>(width));
    step = padded<C>(width);
    return room;
  }
}

/// to[c, i] = factor * from[i, c], to: [padded width, Vecs vectors]; zero where i >= rows.
template <class C, int Vecs, class T> void pack_transposed(std::int64_t rows, std::int64_t width,
                                                           T const* from, std::int64_t from_step,
                                                           C factor, C* to) {
  constexpr int n = simd::lanes<C>;
  for (std::int64_t c = 0; c < width; c += n)
    for (int j = 0; j < Vecs; ++j) {
      vec<C> square[n];
      for (int i = 0; i < n; ++i) {
        std::int64_t const row = j * n + i;
        T const* const source = from + row * from_step + c;
        vec<C> value = vec<C>{};
        if (row < rows)
          value =
              c + n <= width ? simd::load<C>(source) : simd::load_first<C>(source, width - c, C(0));
        square[i] = value * factor;
      }
      simd::transpose<C>(square);
      for (int i = 0; i < n; ++i) simd::store<C>(to + ((c + i) * Vecs + j) * n, square[i]);
    }
}

/// to[i, c] = factor[i] * from[c, i] for the first `rows` of Vecs vectors of i; the inverse of
/// pack_transposed.
template <class C, int Vecs, class T> void unpack_transposed(std::int64_t rows, std::int64_t width,
                                                             C const* from, C const* factor, T* to,
                                                             std::int64_t to_step) {
  constexpr int n = simd::lanes<C>;
  for (std::int64_t c = 0; c < width; c += n)
    for (int j = 0; j < Vecs; ++j) {
      vec<C> square[n];
      vec<C> const scale = simd::load<C>(factor + j * n);
      for (int i = 0; i < n; ++i)
        square[i] = simd::load<C>(from + ((c + i) * Vecs + j) * n) * scale;
      simd::transpose<C>(square);
      for (int i = 0; i < n; ++i) {
        std::int64_t const row = j * n + i;
        if (row >= rows) break;
        T* const target = to + row * to_step + c;
        if (c + n <= width)
          simd::store<C>(target, square[i]);
        else
          simd::store_first<C>(target, square[i], width - c);
      }
    }
}

/// 0, 1, 2, ... in the lanes.
template <class C> simd::mask<C> lane_numbers() {
  simd::mask<C> numbers{};
  for (int i = 0; i < simd::lanes<C>; ++i) numbers[i] = i;
  return numbers;
}

/// Writes `hidden` where a query does not see a key; scores: [keys, Vecs vectors], of the keys from
/// first_key and the queries from first_query.
template <class C, int Vecs> void hide_later_keys(attention_problem const& p,
                                                  std::int64_t first_query, std::int64_t first_key,
                                                  std::int64_t keys, C* scores) {
  constexpr int n = simd::lanes<C>;
  constexpr C hidden = -std::numeric_limits<C>::infinity();
  // Lane i sees key r when r <= i + diagonal.
  std::int64_t const diagonal = first_query + (p.seq_k - p.seq_q) - first_key;
  if (keys - 1 <= diagonal) return;
  simd::mask<C> const numbers = lane_numbers<C>();
  for (std::int64_t r = diagonal < 0 ? 0 : diagonal + 1; r < keys; ++r)
    for (int j = 0; j < Vecs; ++j) {
      // |r - diagonal| can exceed 32 bits, its comparison with a lane not.
      std::int64_t least = r - diagonal - j * n;
      least = least < 0 ? 0 : (least > n ? n : least);
      C* const at = scores + (r * Vecs + j) * n;
      auto const seen = numbers >= static_cast<simd::mask_element<C>>(least);
      simd::store<C>(at, simd::select<C>(seen, simd::load<C>(at), simd::fill<C>(hidden)));
    }
}

}  // namespace ricci::kernels::tile
