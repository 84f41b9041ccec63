#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/visit_dtype.hpp>

#include "kernels/parallel/parallel.hpp"
#include "kernels/random/philox.hpp"
#include "kernels/random/random.hpp"

namespace ricci::kernels {
namespace {

constexpr std::int64_t grain = 16384;

// The high and the low half of bits * range. A low half below 2^bits modulo range belongs to the
// surplus of some values over others, and the draw is refused.
struct scaled {
  std::uint64_t value;
  std::uint64_t is_refused;  // 0 or 1, of the value's width so that loops vectorize
};

scaled scale(std::uint32_t word, std::uint64_t range, std::uint64_t surplus) {
  std::uint64_t const product = word * range;  // range <= 2^32
  return {product >> 32, static_cast<std::uint64_t>((product & 0xffffffffu) < surplus)};
}

scaled scale(std::uint64_t pair, std::uint64_t range, std::uint64_t surplus) {
  __extension__ using wide = unsigned __int128;
  wide const product = wide{pair} * range;
  return {static_cast<std::uint64_t>(product >> 64),
          static_cast<std::uint64_t>(static_cast<std::uint64_t>(product) < surplus)};
}

template <class Bits> std::uint64_t surplus_of(std::uint64_t range) {
  if constexpr (sizeof(Bits) == 4)
    return (std::uint64_t{1} << 32) % range;
  else
    return (0 - range) % range;  // 2^64 - range, which leaves the same rest
}

template <class Bits> std::uint64_t redraw(std::uint64_t key, std::int64_t i, std::uint64_t range,
                                           std::uint64_t surplus) {
  for (std::uint32_t attempt = 1;; ++attempt) {
    scaled next;
    if constexpr (sizeof(Bits) == 4)
      next = scale(random_word(key, i, attempt), range, surplus);
    else
      next = scale(random_pair(key, i, attempt), range, surplus);
    if (next.is_refused == 0) return next.value;
  }
}

template <class Bits, class T> void fill_range(std::uint64_t key, T* target, std::int64_t begin,
                                               std::int64_t end, std::int64_t low,
                                               std::uint64_t range) {
  constexpr std::int64_t group_size = sizeof(Bits) == 4 ? 64 : 32;
  std::uint64_t const surplus = surplus_of<Bits>(range);
  std::uint64_t const start = static_cast<std::uint64_t>(low);
  for (std::int64_t i = begin; i < end; i += group_size) {
    Bits bits[group_size];
    if constexpr (sizeof(Bits) == 4)
      random_words(key, i / group_size, bits);
    else
      random_pairs(key, i / group_size, bits);
    T values[group_size];
    std::uint64_t refused = 0;
    for (int r = 0; r < group_size; ++r) {
      scaled const draw = scale(bits[r], range, surplus);
      values[r] = static_cast<T>(start + draw.value);
      refused |= draw.is_refused;
    }
    if (refused != 0)
      for (int r = 0; r < group_size; ++r)
        if (scale(bits[r], range, surplus).is_refused != 0)
          values[r] = static_cast<T>(start + redraw<Bits>(key, i + r, range, surplus));
    std::copy(values, values + std::min(group_size, end - i), target + i);
  }
}

struct numbered {
  std::uint64_t bits;
  std::int64_t number;

  friend bool operator<(numbered const& a, numbered const& b) {
    return a.bits != b.bits ? a.bits < b.bits : a.number < b.number;
  }
};

// Calls f(number, bits) for the numbers 0 to count - 1.
template <class F> void for_each_number(std::uint64_t key, std::int64_t count, F f) {
  for (std::int64_t i = 0; i < count; i += 32) {
    std::uint64_t pairs[32];
    random_pairs(key, i / 32, pairs);
    for (std::int64_t r = 0; r < std::min<std::int64_t>(32, count - i); ++r) f(i + r, pairs[r]);
  }
}

template <class T> void permute(std::uint64_t key, T* target, std::int64_t count) {
  // Buckets by the upper bits, some 16 numbers each: in the order of the buckets and sorted within
  // each, all are sorted.
  int const upper =
      std::clamp(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count))) - 5, 1, 20);
  int const shift = 64 - upper;
  std::int64_t const buckets = std::int64_t{1} << upper;
  std::vector<std::int64_t> ends(static_cast<std::size_t>(buckets) + 1);
  for_each_number(key, count,
                  [&](std::int64_t, std::uint64_t bits) { ++ends[(bits >> shift) + 1]; });
  for (std::int64_t b = 0; b < buckets; ++b)
    ends[static_cast<std::size_t>(b) + 1] += ends[static_cast<std::size_t>(b)];
  std::vector<numbered> sorted(static_cast<std::size_t>(count));
  // ends[b] is the start of bucket b and moves to its end.
  for_each_number(key, count, [&](std::int64_t number, std::uint64_t bits) {
    sorted[static_cast<std::size_t>(ends[bits >> shift]++)] = {bits, number};
  });
  parallel_chunks(buckets, std::max<std::int64_t>(1, buckets / 64),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t b = begin; b < end; ++b) {
                      std::int64_t const first = b == 0 ? 0 : ends[static_cast<std::size_t>(b) - 1];
                      std::int64_t const last = ends[static_cast<std::size_t>(b)];
                      std::sort(sorted.begin() + first, sorted.begin() + last);
                      for (std::int64_t i = first; i < last; ++i)
                        target[i] = static_cast<T>(sorted[static_cast<std::size_t>(i)].number);
                    }
                  });
}

[[noreturn]] void refuse(char const* who, std::string const& fact) {
  throw value_error(std::string(who) + ": " + fact + ".");
}

void check_count(char const* who, std::int64_t count) {
  if (count < 0)
    refuse(who, "the count of elements is " + std::to_string(count) + "; it must not be negative");
}

}  // namespace

void fill_integers(random::key key, void* target, dtype type, std::int64_t count, std::int64_t low,
                   std::int64_t high) {
  check_count("integers", count);
  if (!is_integer(type))
    refuse("integers", "the dtype is " + std::string(name_of(type)) + "; it must be an integer");
  visit(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_integer_v<T>) {
      using limits = std::numeric_limits<T>;
      if (low >= high || low < limits::min() || high - 1 > limits::max())
        refuse("integers", "the range is [" + std::to_string(low) + ", " + std::to_string(high) +
                               "); low must be below high, and all of it must fit " +
                               std::string(name_of(type)));
      std::uint64_t const range =
          static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
      T* const out = static_cast<T*>(target);
      parallel_chunks(count, count < 2 * grain ? std::max<std::int64_t>(count, 1) : grain,
                      [&](std::int64_t begin, std::int64_t end) {
                        if (range <= std::uint64_t{1} << 32)
                          fill_range<std::uint32_t>(key.state(), out, begin, end, low, range);
                        else
                          fill_range<std::uint64_t>(key.state(), out, begin, end, low, range);
                      });
    }
  });
}

void fill_permutation(random::key key, void* target, dtype type, std::int64_t count) {
  check_count("permutation", count);
  if (type != dtype::i64 && type != dtype::i32)
    refuse("permutation", "the dtype is " + std::string(name_of(type)) + "; it must be i64 or i32");
  if (type == dtype::i32 && count > std::int64_t{1} << 31)
    refuse("permutation", std::to_string(count) + " numbers do not fit i32; the dtype must be i64");
  if (type == dtype::i64)
    permute(key.state(), static_cast<i64*>(target), count);
  else
    permute(key.state(), static_cast<i32*>(target), count);
}

}  // namespace ricci::kernels
