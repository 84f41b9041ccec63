#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/simd/stream.hpp"
#include "kernels/simd/vec.hpp"

#if defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

/// Private to kernels/copy: transposition in registers.
namespace ricci::kernels {

/// An unsigned integer of element_size bytes at any address: what is copied has no arithmetic.
template <class U> struct at_any_address {
  using type __attribute__((aligned(1), may_alias)) = U;
};

/// `rows` vectors of Bytes, each `groups` squares of rows x rows elements side by side.
template <class U, int Bytes = simd::vector_bytes> struct square {
  static constexpr int lanes = Bytes / static_cast<int>(sizeof(U));
  // 64 rows of bytes would not stay in registers.
  static constexpr int rows = sizeof(U) == 1 && lanes > 16 ? 16 : lanes;
  static constexpr int groups = lanes / rows;
  static constexpr int group_bytes = rows * static_cast<int>(sizeof(U));
  static constexpr bool fills_lines = group_bytes == cache_line;
  using vector = typename simd::detail::vector_type<U, Bytes>::type;
  using group = typename simd::detail::vector_type<U, group_bytes>::type;
  using all_rows = std::make_integer_sequence<int, rows>;
  using all_lanes = std::make_integer_sequence<int, lanes>;
  using all_groups = std::make_integer_sequence<int, groups>;
};

namespace detail {

// Exchanges the off-diagonal blocks, Half wide, of two rows that stand Half apart.
template <class S, int Half, int... Lane>
RICCI_ALWAYS_INLINE void exchange(typename S::vector& upper, typename S::vector& lower,
                                  std::integer_sequence<int, Lane...>) {
  constexpr int n = S::lanes;
  typename S::vector const first =
      __builtin_shufflevector(upper, lower, ((Lane & Half) == 0 ? Lane : n + Lane - Half)...);
  lower = __builtin_shufflevector(upper, lower, ((Lane & Half) == 0 ? Lane + Half : n + Lane)...);
  upper = first;
}

template <class S, int Half, int Row> RICCI_ALWAYS_INLINE void exchange_row(typename S::vector* v) {
  if constexpr ((Row & Half) == 0)
    exchange<S, Half>(v[Row], v[Row + Half], typename S::all_lanes());
}

template <class S, int Half, int... Row>
RICCI_ALWAYS_INLINE void exchange_rows(typename S::vector* v,
                                       std::integer_sequence<int, Row...> all) {
  if constexpr (Half > 0) {
    (exchange_row<S, Half, Row>(v), ...);
    exchange_rows<S, Half / 2>(v, all);
  }
}

template <class S, int Group, int... Lane>
RICCI_ALWAYS_INLINE typename S::group group_of(typename S::vector v,
                                               std::integer_sequence<int, Lane...>) {
  if constexpr (S::groups == 1)
    return v;
  else
    return __builtin_shufflevector(v, v, (Group * S::rows + Lane)...);
}

template <class S, bool Streams, int Group, int... Row>
RICCI_ALWAYS_INLINE void store_group(char* to, std::int64_t to_row, typename S::vector const* v,
                                     std::integer_sequence<int, Row...> all) {
  (
      [&] {
        typename S::group const part = group_of<S, Group>(v[Row], all);
        char* const place = to + (Group * S::rows + Row) * to_row;
        if constexpr (Streams)
          stream_line(place, reinterpret_cast<char const*>(&part));
        else
          std::memcpy(place, &part, sizeof part);
      }(),
      ...);
}

template <class S, bool Streams, int... Row, int... Group>
RICCI_ALWAYS_INLINE void transpose_whole(char* to, std::int64_t to_row, char const* from,
                                         std::int64_t from_row,
                                         std::integer_sequence<int, Row...> all,
                                         std::integer_sequence<int, Group...>) {
  typename S::vector v[S::rows];
  (std::memcpy(&v[Row], from + Row * from_row, sizeof v[Row]), ...);
  exchange_rows<S, S::rows / 2>(v, all);
  (store_group<S, Streams, Group>(to, to_row, v, all), ...);
}

}  // namespace detail

/// Transposes one block: target row j, element i = source row i, element j.
///   Axes    from: [square::rows, square::lanes]; to: [square::lanes, square::rows]; the distance
///           of rows in bytes
///   Memory  Streams: the target's rows begin on cache lines, and pass the caches by
template <class U, bool Streams = false, int Bytes = simd::vector_bytes>
RICCI_ALWAYS_INLINE void transpose_whole(char* to, std::int64_t to_row, char const* from,
                                         std::int64_t from_row) {
  using S = square<U, Bytes>;
  detail::transpose_whole<S, Streams && S::fills_lines>(
      to, to_row, from, from_row, typename S::all_rows(), typename S::all_groups());
}

#if defined(__AVX512BW__) && defined(__AVX512VL__)
namespace detail {

// The first `bytes` of a vector, 0 <= bytes <= its size; a masked access touches no others.
template <class V> RICCI_ALWAYS_INLINE V load_first(char const* from, std::uint64_t mask) {
  if constexpr (sizeof(V) == 64)
    return reinterpret_cast<V>(_mm512_maskz_loadu_epi8(mask, from));
  else if constexpr (sizeof(V) == 32)
    return reinterpret_cast<V>(_mm256_maskz_loadu_epi8(static_cast<__mmask32>(mask), from));
  else
    return reinterpret_cast<V>(_mm_maskz_loadu_epi8(static_cast<__mmask16>(mask), from));
}

template <class V> RICCI_ALWAYS_INLINE void store_first(char* to, V part, std::uint64_t mask) {
  if constexpr (sizeof(V) == 64)
    _mm512_mask_storeu_epi8(to, mask, reinterpret_cast<__m512i>(part));
  else if constexpr (sizeof(V) == 32)
    _mm256_mask_storeu_epi8(to, static_cast<__mmask32>(mask), reinterpret_cast<__m256i>(part));
  else
    _mm_mask_storeu_epi8(to, static_cast<__mmask16>(mask), reinterpret_cast<__m128i>(part));
}

template <class S, int Group, int... Row>
RICCI_ALWAYS_INLINE void store_group_part(char* to, std::int64_t to_row,
                                          typename S::vector const* v, std::uint64_t mask,
                                          std::int64_t width,
                                          std::integer_sequence<int, Row...> all) {
  constexpr int first = Group * S::rows;
  if (width <= first) return;
  ((first + Row < width ? store_first<typename S::group>(to + (first + Row) * to_row,
                                                         group_of<S, Group>(v[Row], all), mask)
                        : void()),
   ...);
}

template <class S, int... Row, int... Group>
RICCI_ALWAYS_INLINE void transpose_part(char* to, std::int64_t to_row, char const* from,
                                        std::int64_t from_row, std::uint64_t load_mask,
                                        std::uint64_t store_mask, std::int64_t height,
                                        std::int64_t width, std::integer_sequence<int, Row...> all,
                                        std::integer_sequence<int, Group...>) {
  using V = typename S::vector;
  V v[S::rows];
  ((v[Row] = Row < height ? load_first<V>(from + Row * from_row, load_mask) : V{}), ...);
  exchange_rows<S, S::rows / 2>(v, all);
  (store_group_part<S, Group>(to, to_row, v, store_mask, width, all), ...);
}

}  // namespace detail
#endif

/// The same of the first `height` rows and `width` elements of the source, and nothing beside.
///   @pre  1 <= height <= square::rows, 1 <= width <= square::lanes
template <class U, int Bytes = simd::vector_bytes>
void transpose_part(char* to, std::int64_t to_row, char const* from, std::int64_t from_row,
                    std::int64_t height, std::int64_t width) {
  constexpr std::int64_t size = sizeof(U);
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  using S = square<U, Bytes>;
  detail::transpose_part<S>(to, to_row, from, from_row, ~std::uint64_t{0} >> (64 - width * size),
                            ~std::uint64_t{0} >> (64 - height * size), height, width,
                            typename S::all_rows(), typename S::all_groups());
#else
  for (std::int64_t j = 0; j < width; ++j)
    for (std::int64_t i = 0; i < height; ++i)
      std::memcpy(to + j * to_row + i * size, from + i * from_row + j * size, sizeof(U));
#endif
}

/// A part that a square of half the side may hold, as reversals of many short axes have them.
template <class U> RICCI_ALWAYS_INLINE void transpose_any(char* to, std::int64_t to_row,
                                                          char const* from, std::int64_t from_row,
                                                          std::int64_t height, std::int64_t width) {
  using S = square<U>;
  constexpr int half = simd::vector_bytes / 2;
  using H = square<U, half>;
  if (height == S::rows && width == S::lanes)
    transpose_whole<U>(to, to_row, from, from_row);
  else if (height == H::rows && width == H::lanes)
    transpose_whole<U, false, half>(to, to_row, from, from_row);
  else if (half > 16 && height <= H::rows && width <= H::lanes)
    transpose_part<U, half>(to, to_row, from, from_row, height, width);
  else
    transpose_part<U>(to, to_row, from, from_row, height, width);
}

}  // namespace ricci::kernels
