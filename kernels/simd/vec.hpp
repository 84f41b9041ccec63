#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <ricci/tensor/dtype.hpp>

#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#endif

/// Vectors of the machine's width in the vector extension that g++ and clang share: the explicit
/// counterpart of a loop, for reductions (whose order a compiler may not change) and for kernels
/// that must keep their accumulators in registers. Included by the sources in kernels/ alone.
namespace ricci::kernels::simd {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

#define RICCI_ALWAYS_INLINE inline __attribute__((always_inline))

namespace detail {

template <class C, int Bytes> struct vector_type {
  using type __attribute__((vector_size(Bytes))) = C;
};

}  // namespace detail

/// Elements of one vector of C.
template <class C> inline constexpr int lanes = vector_bytes / static_cast<int>(sizeof(C));

/// lanes<C> elements of C, added and multiplied lane by lane; C is f32 or f64 (or an integer).
template <class C> using vec = typename detail::vector_type<C, vector_bytes>::type;

/// The signed integers that have the bits of C, as a comparison of vectors returns them.
template <class C> using mask_element = std::conditional_t<sizeof(C) == 8, i64, i32>;
template <class C> using mask = vec<mask_element<C>>;

template <class C> RICCI_ALWAYS_INLINE vec<C> fill(C value) { return value - vec<C>{}; }

template <class C> RICCI_ALWAYS_INLINE vec<C> select(mask<C> m, vec<C> yes, vec<C> no) {
  return m ? yes : no;
}

/// The larger of each two lanes; where one of them is NaN, b. (The comparison alone would cost g++
/// two instructions.)
template <class C> RICCI_ALWAYS_INLINE vec<C> max(vec<C> a, vec<C> b) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<C, float>)
    return reinterpret_cast<vec<C>>(
        _mm512_maskz_max_ps(0xffff, reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b)));
  if constexpr (std::is_same_v<C, double>)
    return reinterpret_cast<vec<C>>(
        _mm512_maskz_max_pd(0xff, reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b)));
#endif
  return a > b ? a : b;
}

/// The smaller of each two lanes; where one of them is NaN, b.
template <class C> RICCI_ALWAYS_INLINE vec<C> min(vec<C> a, vec<C> b) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<C, float>)
    return reinterpret_cast<vec<C>>(
        _mm512_maskz_min_ps(0xffff, reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b)));
  if constexpr (std::is_same_v<C, double>)
    return reinterpret_cast<vec<C>>(
        _mm512_maskz_min_pd(0xff, reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b)));
#endif
  return a < b ? a : b;
}

namespace detail {

// Lane i becomes lane i + Distance, around the end.
template <int Distance, class V, int... Lane>
RICCI_ALWAYS_INLINE V rotate(V v, std::integer_sequence<int, Lane...>) {
  return __builtin_shufflevector(v, v, ((Lane + Distance) % static_cast<int>(sizeof...(Lane)))...);
}

template <class C, int Half, class F> RICCI_ALWAYS_INLINE C fold_lanes(vec<C> v, F f) {
  if constexpr (Half == 0)
    return v[0];
  else
    return fold_lanes<C, Half / 2>(
        f(v, rotate<Half>(v, std::make_integer_sequence<int, lanes<C>>())), f);
}

}  // namespace detail

/// Sum of the lanes by halves: one fixed order.
template <class C> RICCI_ALWAYS_INLINE C sum_lanes(vec<C> v) {
  return detail::fold_lanes<C, lanes<C> / 2>(v, [](vec<C> a, vec<C> b) { return a + b; });
}

template <class C> RICCI_ALWAYS_INLINE C max_lanes(vec<C> v) {
  return detail::fold_lanes<C, lanes<C> / 2>(v, [](vec<C> a, vec<C> b) { return max<C>(a, b); });
}

/// lanes<C> elements from any address, converted exactly; T is C, or f16 or bf16 where C is f32.
template <class C, class T> RICCI_ALWAYS_INLINE vec<C> load(T const* from) {
  if constexpr (std::is_same_v<T, C>) {
    vec<C> v;
    std::memcpy(&v, from, sizeof v);
    return v;
  } else if constexpr (std::is_same_v<T, bf16>) {
    typename detail::vector_type<std::uint16_t, vector_bytes / 2>::type narrow;
    std::memcpy(&narrow, from, sizeof narrow);
    vec<std::uint32_t> const wide = __builtin_convertvector(narrow, vec<std::uint32_t>) << 16;
    return std::bit_cast<vec<float>>(wide);
  } else {
#if defined(__AVX512F__)
    return reinterpret_cast<vec<float>>(
        _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from))));
#elif defined(__F16C__)
    return reinterpret_cast<vec<float>>(
        _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<__m128i const*>(from))));
#else
    C all[lanes<C>];
    for (int i = 0; i < lanes<C>; ++i) all[i] = static_cast<C>(from[i]);
    return load<C>(static_cast<C const*>(all));
#endif
  }
}

/// The inverse of load: nearest value of T, ties to even.
template <class C, class T> RICCI_ALWAYS_INLINE void store(T* to, vec<C> v) {
  if constexpr (std::is_same_v<T, C>) {
    std::memcpy(to, &v, sizeof v);
  } else if constexpr (std::is_same_v<T, bf16>) {
    using bits = vec<std::uint32_t>;
    bits const all = std::bit_cast<bits>(v);
    bits const rounded = (all + 0x7fffu + ((all >> 16) & 1u)) >> 16;
    bits const quiet = (all >> 16) | 0x40u;  // of a NaN, which rounding could carry into infinity
    bits const chosen = v == v ? rounded : quiet;
    auto const narrow = __builtin_convertvector(
        chosen, typename detail::vector_type<std::uint16_t, vector_bytes / 2>::type);
    std::memcpy(to, &narrow, sizeof narrow);
  } else {
#if defined(__AVX512F__)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_maskz_cvtps_ph(0xffff, reinterpret_cast<__m512>(v),
                                              _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(__F16C__)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm256_cvtps_ph(reinterpret_cast<__m256>(v), _MM_FROUND_TO_NEAREST_INT));
#else
    C all[lanes<C>];
    store<C>(static_cast<C*>(all), v);
    for (int i = 0; i < lanes<C>; ++i) to[i] = static_cast<T>(all[i]);
#endif
  }
}

/// The first `count` lanes from memory, 0 <= count <= lanes<C>; the others are `rest`.
template <class C, class T>
RICCI_ALWAYS_INLINE vec<C> load_first(T const* from, std::int64_t count, C rest) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>)
    return reinterpret_cast<vec<float>>(
        _mm512_mask_loadu_ps(reinterpret_cast<__m512>(fill<float>(rest)),
                             static_cast<__mmask16>((1u << count) - 1u), from));
#endif
  C all[lanes<C>];
  for (int i = 0; i < lanes<C>; ++i) all[i] = i < count ? static_cast<C>(from[i]) : rest;
  return load<C>(static_cast<C const*>(all));
}

/// Stores the first `count` lanes and leaves the memory behind them alone.
template <class C, class T>
RICCI_ALWAYS_INLINE void store_first(T* to, vec<C> v, std::int64_t count) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1u),
                          reinterpret_cast<__m512>(v));
    return;
  }
#endif
  T all[lanes<C>];
  store<C>(static_cast<T*>(all), v);
  for (int i = 0; i < count; ++i) to[i] = all[i];
}

}  // namespace ricci::kernels::simd
