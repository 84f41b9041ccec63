#pragma once

#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace ricci::kernels {

/// Four words of 32 bits: a counter, or the output for one.
struct philox_words {
  std::uint32_t word[4];

  friend constexpr bool operator==(philox_words const&, philox_words const&) = default;
};

/// Philox4x32-10: the counter, enciphered under a 64-bit key; every bit of it looks random.
///   Value   ten rounds; the first of the two key words is the lower half of key
///   Cost    a loop over counters vectorizes: words are kept in the lower halves of 64-bit lanes,
///           where one multiplication gives both halves of a product
///   Source  Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011
constexpr philox_words philox(philox_words counter, std::uint64_t key) {
  constexpr std::uint64_t low = 0xffffffffu;
  // Upper halves hold what earlier products left there; only lower halves count.
  std::uint64_t c0 = counter.word[0], c1 = counter.word[1];
  std::uint64_t c2 = counter.word[2], c3 = counter.word[3];
  std::uint64_t k0 = key & low, k1 = key >> 32;
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const product0 = (c0 & low) * 0xd2511f53u;
    std::uint64_t const product1 = (c2 & low) * 0xcd9e8d57u;
    c0 = (product1 >> 32) ^ c1 ^ k0;
    c1 = product1;
    c2 = (product0 >> 32) ^ c3 ^ k1;
    c3 = product0;
    k0 += 0x9e3779b9u;  // the golden ratio
    k1 += 0xbb67ae85u;  // the square root of three, less one
  }
  return {{static_cast<std::uint32_t>(c0), static_cast<std::uint32_t>(c1),
           static_cast<std::uint32_t>(c2), static_cast<std::uint32_t>(c3)}};
}

/// Elements that share sixteen blocks of four words: 64 that need one word each, or 32 of two.
inline constexpr int words_of_group = 64;
inline constexpr int blocks_of_group = 16;

/// The word of element i, in a fill whose elements take one word each.
///   Value   element i = 64 g + 16 w + b has word w of block 16 g + b: neighbours come from
///           neighbouring blocks, so that neither a vector unit nor a GPU has to shuffle.
///           `attempt` numbers the draws of one element, where one may be refused
constexpr std::uint32_t random_word(std::uint64_t key, std::int64_t i, std::uint32_t attempt = 0) {
  std::uint64_t const n = static_cast<std::uint64_t>(i);
  std::uint64_t const block = n / 64 * 16 + n % 16;
  return philox({{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                  attempt, 0}},
                key)
      .word[n / 16 % 4];
}

/// The 64 bits of element i, in a fill whose elements take two words each.
///   Value   element i = 32 g + 16 h + b has words 2h (lower) and 2h + 1 of block 16 g + b
constexpr std::uint64_t random_pair(std::uint64_t key, std::int64_t i, std::uint32_t attempt = 0) {
  std::uint64_t const n = static_cast<std::uint64_t>(i);
  std::uint64_t const block = n / 32 * 16 + n % 16;
  philox_words const out = philox(
      {{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), attempt, 0}},
      key);
  std::uint64_t const half = n / 16 % 2;
  return out.word[2 * half] | std::uint64_t{out.word[2 * half + 1]} << 32;
}

/// words[r] is random_word(key, 64 group + r). A call of its own: it is long, and used in many
/// loops.
[[gnu::noinline]] inline void random_words(std::uint64_t key, std::int64_t group,
                                           std::uint32_t (&words)[words_of_group]) {
  std::uint64_t const first = static_cast<std::uint64_t>(group) * blocks_of_group;
#if defined(__AVX512F__)
  // philox() for eight blocks at a time. Compilers do vectorize it, but differ in how well.
  __m512i const eight = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  __m512i c[2][4];
  for (int half = 0; half < 2; ++half) {
    c[half][0] =
        _mm512_add_epi64(_mm512_set1_epi64(static_cast<std::int64_t>(first) + 8 * half), eight);
    c[half][1] = _mm512_set1_epi64(static_cast<std::int64_t>(first >> 32));
    c[half][2] = c[half][3] = _mm512_setzero_si512();
  }
  // The forms with a mask, though it takes all lanes: g++ 12 warns falsely about the others.
  constexpr __mmask8 all = 0xff;
  __m512i const even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  std::uint64_t k0 = key, k1 = key >> 32;
  for (int round = 0; round < 10; ++round) {
    for (auto& w : c) {
      __m512i const product0 = _mm512_maskz_mul_epu32(all, w[0], _mm512_set1_epi64(0xd2511f53));
      __m512i const product1 = _mm512_maskz_mul_epu32(all, w[2], _mm512_set1_epi64(0xcd9e8d57));
      w[0] = _mm512_maskz_srli_epi64(all, product1, 32) ^ w[1] ^
             _mm512_set1_epi64(static_cast<std::int64_t>(k0));
      w[1] = product1;
      w[2] = _mm512_maskz_srli_epi64(all, product0, 32) ^ w[3] ^
             _mm512_set1_epi64(static_cast<std::int64_t>(k1));
      w[3] = product0;
    }
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  for (int w = 0; w < 4; ++w)
    _mm512_storeu_si512(words + 16 * w, _mm512_permutex2var_epi32(c[0][w], even, c[1][w]));
#else
  for (int b = 0; b < blocks_of_group; ++b) {
    std::uint64_t const block = first + static_cast<std::uint64_t>(b);
    philox_words const out = philox(
        {{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}}, key);
    for (int w = 0; w < 4; ++w) words[16 * w + b] = out.word[w];
  }
#endif
}

/// pairs[r] is random_pair(key, 32 group + r).
inline void random_pairs(std::uint64_t key, std::int64_t group,
                         std::uint64_t (&pairs)[words_of_group / 2]) {
  std::uint32_t words[words_of_group];
  random_words(key, group, words);
  for (int half = 0; half < 2; ++half)
    for (int b = 0; b < blocks_of_group; ++b)
      pairs[16 * half + b] = words[32 * half + b] | std::uint64_t{words[32 * half + 16 + b]} << 32;
}

}  // namespace ricci::kernels
