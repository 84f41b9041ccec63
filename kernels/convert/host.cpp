#include "kernels/convert/convert.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/visit_dtype.hpp>

#include "kernels/convert/convert_value.hpp"
#include "kernels/parallel/parallel.hpp"

namespace ricci::kernels {
namespace {

// Elements that one thread takes at a time; below two of them a second thread does not pay.
constexpr std::int64_t grain = 16384;

// f32 values between the two halves of a conversion from or to a narrow float: 4 KiB, in L1.
constexpr std::int64_t stage = 1024;

template <class T> constexpr bool is_narrow_float = is_floating_v<T> && sizeof(T) <= 2;

// A byte that is neither 0 nor 1 is no C++ bool, but a file may hold it: booleans are read as u8.
template <class T> using loaded = std::conditional_t<std::is_same_v<T, boolean>, u8, T>;

template <class From, class To> void convert_loop(loaded<From> const* __restrict source,
                                                  To* __restrict target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<From, boolean>)
      target[i] = convert_value<To>(source[i] != 0);
    else
      target[i] = convert_value<To>(source[i]);
  }
}

// To f32 such that rounding the result once more, to a narrow float, is right.
template <class From>
void widen(loaded<From> const* __restrict source, f32* __restrict target, std::int64_t count) {
  constexpr bool is_exact = is_narrow_float<From> || sizeof(From) <= 2 || std::is_same_v<From, f32>;
  if constexpr (is_exact)
    convert_loop<From, f32>(source, target, count);
  else
    for (std::int64_t i = 0; i < count; ++i) target[i] = ricci::detail::round_to_odd(source[i]);
}

#if defined(__F16C__)
template <> void convert_loop<f32, f16>(f32 const* __restrict source, f16* __restrict target,
                                        std::int64_t count) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(source + i), nearest));
  for (; i < count; ++i) target[i] = f16(source[i]);
}

template <> void convert_loop<f16, f32>(f16 const* __restrict source, f32* __restrict target,
                                        std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(
        target + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<__m128i const*>(source + i))));
  for (; i < count; ++i) target[i] = static_cast<f32>(source[i]);
}
#endif

template <class From, class To>
void convert_range(void const* source, void* target, std::int64_t begin, std::int64_t end) {
  auto const* const in = static_cast<loaded<From> const*>(source);
  auto* const out = static_cast<To*>(target);
  constexpr bool is_direct = (!is_narrow_float<From> && !is_narrow_float<To>) ||
                             std::is_same_v<From, f32> || std::is_same_v<To, f32>;
  if constexpr (std::is_same_v<From, To>) {
    std::memcpy(out + begin, in + begin, static_cast<std::size_t>(end - begin) * sizeof(To));
  } else if constexpr (is_direct) {
    convert_loop<From, To>(in + begin, out + begin, end - begin);
  } else {
    // Thirteen loops to and from f32 instead of one for each pair.
    alignas(64) f32 between[stage];
    for (std::int64_t i = begin; i < end; i += stage) {
      std::int64_t const count = std::min(stage, end - i);
      widen<From>(in + i, between, count);
      convert_loop<f32, To>(between, out + i, count);
    }
  }
}

}  // namespace

void convert(void const* source, dtype from, void* target, dtype to, std::int64_t count) {
  if (count < 0)
    throw value_error("convert: the count of elements is " + std::to_string(count) +
                      "; it must not be negative.");
  using range = void (*)(void const*, void*, std::int64_t, std::int64_t);
  range const run = visit(from, [to]<class From>(std::type_identity<From>) {
    return visit(
        to, []<class To>(std::type_identity<To>) -> range { return &convert_range<From, To>; });
  });
  if (count < 2 * grain)
    run(source, target, 0, count);
  else
    parallel_chunks(count, grain,
                    [&](std::int64_t begin, std::int64_t end) { run(source, target, begin, end); });
}

}  // namespace ricci::kernels
