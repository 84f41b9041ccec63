#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/simd/vec.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/// Stores that pass the caches by. A line that is written whole need not
/// be read before, which a store through the caches does: a third of what a large copy moves.
namespace ricci::kernels {

inline constexpr std::int64_t cache_line = 64;  // bytes

/// The distance of an address from the cache line that it lies in.
inline std::int64_t line_offset(void const* p) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % cache_line);
}

/// One whole line, to an address that is a multiple of cache_line.
RICCI_ALWAYS_INLINE void stream_line(char* to, char const* from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX__)
  for (int i = 0; i < 64; i += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from + i)));
#elif defined(__SSE2__)
  for (int i = 0; i < 64; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_loadu_si128(reinterpret_cast<__m128i const*>(from + i)));
#else
  std::memcpy(to, from, cache_line);
#endif
}

/// Any run: the lines that it fills pass by, its two ends do not.
inline void stream_run(char* to, char const* from, std::int64_t run) {
  std::int64_t const first = std::min(run, (cache_line - line_offset(to)) % cache_line);
  if (first > 0) std::memcpy(to, from, static_cast<std::size_t>(first));
  std::int64_t i = first;
  for (; i + cache_line <= run; i += cache_line) stream_line(to + i, from + i);
  if (i < run) std::memcpy(to + i, from + i, static_cast<std::size_t>(run - i));
}

/// Orders what was streamed before whatever follows, as an ordinary store is.
RICCI_ALWAYS_INLINE void finish_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace ricci::kernels
