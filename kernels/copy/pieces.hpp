#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/simd/stream.hpp"
#include "kernels/simd/vec.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/// Private to kernels/copy: transposition of rows that lie anywhere, 16 bytes of each at a time.
/// Vectors are shuffled inside their 16-byte parts alone, which takes as many registers as a part
/// has elements: never more than 16.
namespace ricci::kernels {

/// The block that one call turns: `rows` pieces of `width` elements.
template <class U, int Bytes> struct pieces {
  static constexpr int size = static_cast<int>(sizeof(U));
  static constexpr int width = 16 / size;
  static constexpr int parts = Bytes / 16;
  static constexpr int rows = width * parts;
  using vector = typename simd::detail::vector_type<U, Bytes>::type;
  using all = std::make_integer_sequence<int, width>;
};

/// The first bytes of a store or load: what stands behind them is not touched.
struct first_bytes {
  explicit first_bytes(std::int64_t count) : count(count), mask(~std::uint64_t{0} >> (64 - count)) {}
  std::int64_t count;  // 1 to 64
  std::uint64_t mask;
};

template <class V> RICCI_ALWAYS_INLINE V load_first(char const* from, first_bytes first) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if constexpr (sizeof(V) == 64)
    return reinterpret_cast<V>(_mm512_maskz_loadu_epi8(first.mask, from));
  else if constexpr (sizeof(V) == 32)
    return reinterpret_cast<V>(_mm256_maskz_loadu_epi8(static_cast<__mmask32>(first.mask), from));
  else
    return reinterpret_cast<V>(_mm_maskz_loadu_epi8(static_cast<__mmask16>(first.mask), from));
#else
  V v{};
  std::memcpy(&v, from, static_cast<std::size_t>(first.count));
  return v;
#endif
}

template <class V> RICCI_ALWAYS_INLINE void store_first(char* to, V v, first_bytes first) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if constexpr (sizeof(V) == 64)
    _mm512_mask_storeu_epi8(to, first.mask, reinterpret_cast<__m512i>(v));
  else if constexpr (sizeof(V) == 32)
    _mm256_mask_storeu_epi8(to, static_cast<__mmask32>(first.mask), reinterpret_cast<__m256i>(v));
  else
    _mm_mask_storeu_epi8(to, static_cast<__mmask16>(first.mask), reinterpret_cast<__m128i>(v));
#else
  std::memcpy(to, &v, static_cast<std::size_t>(first.count));
#endif
}

/// Stores a vector: whole, whole past the caches, or its first bytes.
struct store_whole {
  template <class V> RICCI_ALWAYS_INLINE void operator()(char* to, V v) const {
    std::memcpy(to, &v, sizeof v);
  }
};
struct store_streamed {
  template <class V> RICCI_ALWAYS_INLINE void operator()(char* to, V v) const {
    static_assert(sizeof(V) == cache_line);
    stream_line(to, reinterpret_cast<char const*>(&v));
  }
};
struct store_part {
  first_bytes first;
  template <class V> RICCI_ALWAYS_INLINE void operator()(char* to, V v) const {
    store_first(to, v, first);
  }
};

/// Loads a row's 16 bytes: whole, or the first of them.
struct load_whole {
  template <class V> RICCI_ALWAYS_INLINE V load(char const* from) const {
    V v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
};
struct load_part {
  first_bytes first;
  template <class V> RICCI_ALWAYS_INLINE V load(char const* from) const {
    return load_first<V>(from, first);
  }
};

namespace detail {

// Row i of every part, the parts side by side.
template <class U, int Bytes, class Load, class From>
RICCI_ALWAYS_INLINE auto load_pieces(Load const& load, From const& from, int i) {
  using P = pieces<U, Bytes>;
  using V = typename P::vector;
  constexpr int w = P::width;
#if defined(__AVX512F__)
  if constexpr (Bytes == 64) {
    __m512i v = _mm512_castsi128_si512(load.template load<__m128i>(from(i)));
    v = _mm512_inserti32x4(v, load.template load<__m128i>(from(w + i)), 1);
    v = _mm512_inserti32x4(v, load.template load<__m128i>(from(2 * w + i)), 2);
    return reinterpret_cast<V>(
        _mm512_inserti32x4(v, load.template load<__m128i>(from(3 * w + i)), 3));
  }
#endif
#if defined(__AVX2__)
  if constexpr (Bytes == 32)
    return reinterpret_cast<V>(_mm256_inserti128_si256(
        _mm256_castsi128_si256(load.template load<__m128i>(from(i))),
        load.template load<__m128i>(from(w + i)), 1));
#endif
  if constexpr (Bytes == 16) {
    return load.template load<V>(from(i));
  } else {
    using part = typename pieces<U, 16>::vector;
    V v;
    for (int p = 0; p < P::parts; ++p) {
      part const one = load.template load<part>(from(p * w + i));
      std::memcpy(reinterpret_cast<char*>(&v) + 16 * p, &one, sizeof one);
    }
    return v;
  }
}

// The low (Half = 0) or high elements of each part of a and b, by turns.
template <class P, int Half, int... Lane>
RICCI_ALWAYS_INLINE typename P::vector by_turns(typename P::vector a, typename P::vector b,
                                                std::integer_sequence<int, Lane...>) {
  constexpr int w = P::width, n = P::rows;
  return __builtin_shufflevector(
      a, b, (Lane / w * w + Half * (w / 2) + Lane % w / 2 + (Lane % 2) * n)...);
}

template <class P, int... Pair>
RICCI_ALWAYS_INLINE void turn_once(typename P::vector* v, std::integer_sequence<int, Pair...>) {
  using lanes = std::make_integer_sequence<int, P::rows>;
  constexpr int half = P::width / 2;
  typename P::vector turned[P::width];
  ((turned[2 * Pair] = by_turns<P, 0>(v[Pair], v[Pair + half], lanes()),
    turned[2 * Pair + 1] = by_turns<P, 1>(v[Pair], v[Pair + half], lanes())),
   ...);
  ((v[2 * Pair] = turned[2 * Pair], v[2 * Pair + 1] = turned[2 * Pair + 1]), ...);
}

template <class P, int Steps> RICCI_ALWAYS_INLINE void turn(typename P::vector* v) {
  if constexpr (Steps > 1) {
    turn_once<P>(v, std::make_integer_sequence<int, P::width / 2>());
    turn<P, Steps / 2>(v);
  }
}

template <class U, int Bytes, class Load, class Store, class From, class To, int... I>
RICCI_ALWAYS_INLINE void turn_pieces(Load const& load, Store const& store, From const& from,
                                     To const& to, int columns, std::integer_sequence<int, I...>) {
  using P = pieces<U, Bytes>;
  typename P::vector v[P::width];
  ((v[I] = load_pieces<U, Bytes>(load, from, I)), ...);
  turn<P, P::width>(v);
  ((I < columns ? store(to(I), v[I]) : void()), ...);
}

}  // namespace detail

/// Target row c, element r = source row r, element c, for c < columns.
///   Axes    from(r): where the piece of row r begins; to(c): where the vector of column c goes
template <class U, int Bytes, class Load, class Store, class From, class To>
RICCI_ALWAYS_INLINE void turn_pieces(Load const& load, Store const& store, From const& from,
                                     To const& to, int columns = pieces<U, Bytes>::width) {
  detail::turn_pieces<U, Bytes>(load, store, from, to, columns,
                                typename pieces<U, Bytes>::all());
}

}  // namespace ricci::kernels
