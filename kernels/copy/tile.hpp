#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/simd/stream.hpp"
#include "kernels/simd/vec.hpp"

/// Private to kernels/copy: transposition in registers.
///
/// Vectors hold lanes of 16 bytes, which the processor shuffles apart from each other: lane l of
/// vector r is loaded from source row l * side + r, so that `side` vectors of any number of lanes
/// are transposed by interleaving them log2(side) times.
namespace ricci::kernels {

/// An unsigned integer of element_size bytes at any address: what is copied has no arithmetic.
template <class U> struct at_any_address {
  using type __attribute__((aligned(1), may_alias)) = U;
};

/// What is transposed at a time.
template <class U> struct tile {
  static constexpr int lane_bytes = 16;
  static constexpr int lanes = simd::vector_bytes / lane_bytes;
  static constexpr int side = lane_bytes / static_cast<int>(sizeof(U));  // elements of a lane
  static constexpr int rows = lanes * side;                              // of the source
  static constexpr int columns = static_cast<int>(cache_line / sizeof(U));
  static constexpr bool fills_lines = simd::vector_bytes == cache_line;
};

namespace detail {

template <class U, int Lanes> using lanes_of =
    typename simd::detail::vector_type<U, 16 * Lanes>::type;

template <class V, int... I>
RICCI_ALWAYS_INLINE auto join(V low, V high, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(low, high, I...);
}

// Lane l from row l * tile::side.
template <class U, int Lanes>
RICCI_ALWAYS_INLINE lanes_of<U, Lanes> load_lanes(char const* from, std::int64_t from_row) {
  if constexpr (Lanes == 1) {
    lanes_of<U, 1> v;
    std::memcpy(&v, from, sizeof v);
    return v;
  } else {
    constexpr int half = Lanes / 2;
    return join(load_lanes<U, half>(from, from_row),
                load_lanes<U, half>(from + half * tile<U>::side * from_row, from_row),
                std::make_integer_sequence<int, Lanes * tile<U>::side>());
  }
}

// In every lane, the elements of its half `High` of a and b by turns.
template <class U, bool High, class V, int... I>
RICCI_ALWAYS_INLINE V interleave(V a, V b, std::integer_sequence<int, I...>) {
  constexpr int side = tile<U>::side;
  constexpr int count = sizeof...(I);
  return __builtin_shufflevector(
      a, b, (I / side * side + (High ? side / 2 : 0) + I % side / 2 + I % 2 * count)...);
}

template <class U, class V, int... R>
RICCI_ALWAYS_INLINE void interleave_all(V* v, std::integer_sequence<int, R...>) {
  using all = std::make_integer_sequence<int, sizeof(V) / sizeof(U)>;
  constexpr int half = tile<U>::side / 2;
  V const w[] = {(R % 2 == 0 ? interleave<U, false>(v[R / 2], v[R / 2 + half], all())
                             : interleave<U, true>(v[R / 2], v[R / 2 + half], all()))...};
  ((v[R] = w[R]), ...);
}

template <class U, int Steps, class V> RICCI_ALWAYS_INLINE void transpose_lanes(V* v) {
  if constexpr (Steps > 1) {
    interleave_all<U>(v, std::make_integer_sequence<int, tile<U>::side>());
    transpose_lanes<U, Steps / 2>(v);
  }
}

// side columns of Lanes * side rows.
template <class U, int Lanes, bool Streams, int... R>
RICCI_ALWAYS_INLINE void transpose_side(char* to, std::int64_t to_row, char const* from,
                                        std::int64_t from_row, std::integer_sequence<int, R...>) {
  lanes_of<U, Lanes> v[] = {load_lanes<U, Lanes>(from + R * from_row, from_row)...};
  transpose_lanes<U, tile<U>::side>(v);
  if constexpr (Streams)
    (stream_line(to + R * to_row, reinterpret_cast<char const*>(&v[R])), ...);
  else
    (std::memcpy(to + R * to_row, &v[R], sizeof v[R]), ...);
}

template <class U, int Lanes, bool Streams = false>
RICCI_ALWAYS_INLINE void transpose_side(char* to, std::int64_t to_row, char const* from,
                                        std::int64_t from_row) {
  transpose_side<U, Lanes, Streams>(to, to_row, from, from_row,
                                    std::make_integer_sequence<int, tile<U>::side>());
}

// Lane `Lane` of each, side by side.
template <class U, int Lane, class V, int... I>
RICCI_ALWAYS_INLINE V lanes_beside(V a, V b, V c, V d, std::integer_sequence<int, I...>) {
  constexpr int side = tile<U>::side, all = 4 * side;
  V const low = __builtin_shufflevector(a, b, (Lane * side + I % side + I / side % 2 * all)...);
  V const high = __builtin_shufflevector(c, d, (Lane * side + I % side + I / side % 2 * all)...);
  return __builtin_shufflevector(low, high, (I < 2 * side ? I : I - 2 * side + all)...);
}

template <class V> RICCI_ALWAYS_INLINE void store_first(char* to, V v, std::int64_t bytes) {
#if defined(__AVX512BW__)
  _mm512_mask_storeu_epi8(to, ~std::uint64_t{0} >> (64 - bytes), reinterpret_cast<__m512i>(v));
#else
  std::memcpy(to, &v, static_cast<std::size_t>(bytes));
#endif
}

// A tile of four lanes whose rows are loaded whole: each line of the source is touched once. Rows
// from `height` on are missing.
template <class U, bool Streams, bool Whole, int... R>
RICCI_ALWAYS_INLINE void transpose_rows(char* to, std::int64_t to_row, char const* from,
                                        std::int64_t from_row, std::int64_t height,
                                        std::integer_sequence<int, R...>) {
  constexpr int side = tile<U>::side;
  using V = lanes_of<U, 4>;
  V v[sizeof...(R)] = {};
  ((Whole || R < height ? void(std::memcpy(&v[R], from + R * from_row, sizeof v[R])) : void()),
   ...);
  for (int l = 0; l < 4; ++l) transpose_lanes<U, side>(v + l * side);
  auto const store = [&]<int Row>(std::integral_constant<int, Row>) {
    constexpr int c = Row % side;
    V const row = lanes_beside<U, Row / side>(v[c], v[side + c], v[2 * side + c], v[3 * side + c],
                                              std::make_integer_sequence<int, 4 * side>());
    if constexpr (!Whole)
      store_first(to + Row * to_row, row, height * static_cast<std::int64_t>(sizeof(U)));
    else if constexpr (Streams)
      stream_line(to + Row * to_row, reinterpret_cast<char const*>(&row));
    else
      std::memcpy(to + Row * to_row, &row, sizeof row);
  };
  (store(std::integral_constant<int, R>()), ...);
}

// Fewer rows or columns than a side has.
template <class U> void transpose_few(char* to, std::int64_t to_row, char const* from,
                                      std::int64_t from_row, std::int64_t height,
                                      std::int64_t width) {
  using place = typename at_any_address<U>::type;
  for (std::int64_t j = 0; j < width; ++j)
    for (std::int64_t i = 0; i < height; ++i)
      reinterpret_cast<place*>(to + j * to_row)[i] =
          reinterpret_cast<place const*>(from + i * from_row)[j];
}

// side columns of any number of rows up to tile::rows.
template <class U> void transpose_column(char* to, std::int64_t to_row, char const* from,
                                         std::int64_t from_row, std::int64_t height) {
  constexpr std::int64_t side = tile<U>::side, size = sizeof(U);
  if (height < side) return transpose_few<U>(to, to_row, from, from_row, height, side);
  std::int64_t i = 0;
  if constexpr (tile<U>::lanes > 1)
    for (; i + 2 * side <= height; i += 2 * side)
      transpose_side<U, 2>(to + i * size, to_row, from + i * from_row, from_row);
  // The last ones may be written twice.
  for (; i < height; i += side) {
    std::int64_t const at = std::min(i, height - side);
    transpose_side<U, 1>(to + at * size, to_row, from + at * from_row, from_row);
  }
}

}  // namespace detail

/// Transposes a block: target row j, element i = source row i, element j.
///   Axes    from: [height, width]; to: [width, height]; the distance of rows in bytes
///   Memory  Streams: the target's rows begin on cache lines, and those of whole tiles pass the
///           caches by
///   @pre  1 <= height <= tile::rows, 1 <= width
template <class U, bool Streams = false>
RICCI_ALWAYS_INLINE void transpose_tile(char* to, std::int64_t to_row, char const* from,
                                        std::int64_t from_row, std::int64_t height,
                                        std::int64_t width) {
  using T = tile<U>;
  constexpr std::int64_t size = sizeof(U);
  if constexpr (T::lanes == 4 && T::rows <= 16) {
    constexpr auto all = std::make_integer_sequence<int, T::rows>();
    if (width == T::columns)
      return height == T::rows
                 ? detail::transpose_rows<U, Streams, true>(to, to_row, from, from_row, height, all)
                 : detail::transpose_rows<U, false, false>(to, to_row, from, from_row, height, all);
  }
  if (width < T::side) return detail::transpose_few<U>(to, to_row, from, from_row, height, width);
  for (std::int64_t j = 0; j < width; j += T::side) {
    std::int64_t const at = std::min(j, width - T::side);
    if (height == T::rows)
      detail::transpose_side<U, T::lanes, Streams && T::fills_lines>(to + at * to_row, to_row,
                                                                     from + at * size, from_row);
    else
      detail::transpose_column<U>(to + at * to_row, to_row, from + at * size, from_row, height);
  }
}

}  // namespace ricci::kernels
