#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/copy/stream.hpp"
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

/// `rows` vectors that each hold `groups` squares of rows x rows elements side by side.
template <class U> struct square {
  static constexpr int lanes = simd::vector_bytes / static_cast<int>(sizeof(U));
  static constexpr int rows = lanes < 16 ? lanes : 16;
  static constexpr int groups = lanes / rows;
  static constexpr int group_bytes = rows * static_cast<int>(sizeof(U));
  static constexpr bool fills_lines = group_bytes == cache_line;
  using vector = simd::vec<U>;
  using group = typename simd::detail::vector_type<U, group_bytes>::type;
};

namespace detail {

// Exchanges the off-diagonal blocks, Half wide, of two rows that stand Half apart.
template <class U, int Half, int... Lane>
RICCI_ALWAYS_INLINE void exchange(simd::vec<U>& upper, simd::vec<U>& lower,
                                  std::integer_sequence<int, Lane...>) {
  constexpr int n = square<U>::lanes;
  simd::vec<U> const first =
      __builtin_shufflevector(upper, lower, ((Lane & Half) == 0 ? Lane : n + Lane - Half)...);
  lower = __builtin_shufflevector(upper, lower, ((Lane & Half) == 0 ? Lane + Half : n + Lane)...);
  upper = first;
}

template <class U, int Half, int Row> RICCI_ALWAYS_INLINE void exchange_row(simd::vec<U>* v) {
  if constexpr ((Row & Half) == 0)
    exchange<U, Half>(v[Row], v[Row + Half], std::make_integer_sequence<int, square<U>::lanes>());
}

template <class U, int Half, int... Row>
RICCI_ALWAYS_INLINE void exchange_rows(simd::vec<U>* v, std::integer_sequence<int, Row...> all) {
  if constexpr (Half > 0) {
    (exchange_row<U, Half, Row>(v), ...);
    exchange_rows<U, Half / 2>(v, all);
  }
}

template <class U, int Group, int... Lane>
RICCI_ALWAYS_INLINE typename square<U>::group group_of(simd::vec<U> v,
                                                       std::integer_sequence<int, Lane...>) {
  if constexpr (square<U>::groups == 1)
    return v;
  else
    return __builtin_shufflevector(v, v, (Group * square<U>::rows + Lane)...);
}

template <class U, bool Streams, int Group, int... Row>
RICCI_ALWAYS_INLINE void store_group(char* to, std::int64_t to_row, simd::vec<U> const* v,
                                     std::integer_sequence<int, Row...> all) {
  (
      [&] {
        auto const part = group_of<U, Group>(v[Row], all);
        if constexpr (Streams)
          stream_line(to + Row * to_row, reinterpret_cast<char const*>(&part));
        else
          std::memcpy(to + Row * to_row, &part, sizeof part);
      }(),
      ...);
}

template <class U, bool Streams, int... Row, int... Group>
RICCI_ALWAYS_INLINE void transpose_whole(char* to, std::int64_t to_row, char const* from,
                                         std::int64_t from_row,
                                         std::integer_sequence<int, Row...> all,
                                         std::integer_sequence<int, Group...>) {
  simd::vec<U> v[square<U>::rows];
  (std::memcpy(&v[Row], from + Row * from_row, sizeof v[Row]), ...);
  exchange_rows<U, square<U>::rows / 2>(v, all);
  (store_group<U, Streams, Group>(to + Group * square<U>::rows * to_row, to_row, v, all), ...);
}

}  // namespace detail

/// Transposes one block: target row j, element i = source row i, element j.
///   Axes    from: [square::rows, square::lanes]; to: [square::lanes, square::rows]; the distance
///           of rows in bytes
///   Memory  Streams: the target's rows begin on cache lines, and pass the caches by
template <class U, bool Streams = false>
RICCI_ALWAYS_INLINE void transpose_whole(char* to, std::int64_t to_row, char const* from,
                                         std::int64_t from_row) {
  detail::transpose_whole<U, Streams>(to, to_row, from, from_row,
                                      std::make_integer_sequence<int, square<U>::rows>(),
                                      std::make_integer_sequence<int, square<U>::groups>());
}

#if defined(__AVX512BW__) && defined(__AVX512VL__)
namespace detail {

template <class U> RICCI_ALWAYS_INLINE simd::vec<U> load_first(char const* from, std::uint64_t m) {
  if constexpr (sizeof(U) == 1)
    return reinterpret_cast<simd::vec<U>>(_mm512_maskz_loadu_epi8(m, from));
  else if constexpr (sizeof(U) == 2)
    return reinterpret_cast<simd::vec<U>>(
        _mm512_maskz_loadu_epi16(static_cast<__mmask32>(m), from));
  else if constexpr (sizeof(U) == 4)
    return reinterpret_cast<simd::vec<U>>(
        _mm512_maskz_loadu_epi32(static_cast<__mmask16>(m), from));
  else
    return reinterpret_cast<simd::vec<U>>(_mm512_maskz_loadu_epi64(static_cast<__mmask8>(m), from));
}

template <class U>
RICCI_ALWAYS_INLINE void store_first(char* to, typename square<U>::group part, std::uint64_t m) {
  if constexpr (sizeof(U) == 1)
    _mm_mask_storeu_epi8(to, static_cast<__mmask16>(m), reinterpret_cast<__m128i>(part));
  else if constexpr (sizeof(U) == 2)
    _mm256_mask_storeu_epi16(to, static_cast<__mmask16>(m), reinterpret_cast<__m256i>(part));
  else if constexpr (sizeof(U) == 4)
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(m), reinterpret_cast<__m512i>(part));
  else
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(m), reinterpret_cast<__m512i>(part));
}

template <class U, int Group, int... Row>
RICCI_ALWAYS_INLINE void store_group_part(char* to, std::int64_t to_row, simd::vec<U> const* v,
                                          std::int64_t height, std::int64_t width,
                                          std::integer_sequence<int, Row...> all) {
  constexpr int first = Group * square<U>::rows;
  if (width <= first) return;
  std::uint64_t const m = (std::uint64_t{1} << height) - 1;
  ((first + Row < width
        ? store_first<U>(to + (first + Row) * to_row, group_of<U, Group>(v[Row], all), m)
        : void()),
   ...);
}

template <class U, int... Row, int... Group>
RICCI_ALWAYS_INLINE void transpose_part(char* to, std::int64_t to_row, char const* from,
                                        std::int64_t from_row, std::int64_t height,
                                        std::int64_t width, std::integer_sequence<int, Row...> all,
                                        std::integer_sequence<int, Group...>) {
  simd::vec<U> v[square<U>::rows];
  std::uint64_t const m = ~std::uint64_t{0} >> (64 - width);
  ((v[Row] = Row < height ? load_first<U>(from + Row * from_row, m) : simd::vec<U>{}), ...);
  exchange_rows<U, square<U>::rows / 2>(v, all);
  (store_group_part<U, Group>(to, to_row, v, height, width, all), ...);
}

}  // namespace detail
#endif

/// The same of the first `height` rows and `width` elements of the source, and nothing beside.
///   @pre  1 <= height <= square::rows, 1 <= width <= square::lanes
template <class U> void transpose_part(char* to, std::int64_t to_row, char const* from,
                                       std::int64_t from_row, std::int64_t height,
                                       std::int64_t width) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  detail::transpose_part<U>(to, to_row, from, from_row, height, width,
                            std::make_integer_sequence<int, square<U>::rows>(),
                            std::make_integer_sequence<int, square<U>::groups>());
#else
  for (std::int64_t j = 0; j < width; ++j)
    for (std::int64_t i = 0; i < height; ++i)
      std::memcpy(to + j * to_row + i * static_cast<std::int64_t>(sizeof(U)),
                  from + i * from_row + j * static_cast<std::int64_t>(sizeof(U)), sizeof(U));
#endif
}

}  // namespace ricci::kernels
