#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/visit_dtype.hpp>

#include "kernels/convert/convert_value.hpp"
#include "kernels/parallel/parallel.hpp"
#include "kernels/random/philox.hpp"
#include "kernels/random/random.hpp"
#include "kernels/random/transform.hpp"

namespace ricci::kernels {
namespace {

// Elements that one thread takes at a time; whole groups of philox.hpp.
constexpr std::int64_t grain = 16384;
static_assert(grain % words_of_group == 0);

[[noreturn]] void refuse(char const* who, std::string const& fact) {
  throw value_error(std::string(who) + ": " + fact + ".");
}

void check_count(char const* who, std::int64_t count) {
  if (count < 0)
    refuse(who, "the count of elements is " + std::to_string(count) + "; it must not be negative");
}

// Calls f with the identity of the C++ type, for floats.
template <class F> void visit_floating(char const* who, dtype type, F&& f) {
  if (!is_floating(type))
    refuse(who, "the dtype is " + std::string(name_of(type)) + "; it must be a float");
  visit(type, [&]<class T>(std::type_identity<T> identity) {
    if constexpr (is_floating_v<T>) f(identity);
  });
}

// The neighbouring values of a float type; stepping down from the smallest gives the negative one.
template <class T> T step(T value, bool up) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::nextafter(
        value, up ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity());
  } else {
    using bits = decltype(T::bits);
    constexpr bits sign = static_cast<bits>(T::format::sign_mask);
    if ((value.bits & ~sign) == 0) return T::from_bits(static_cast<bits>(up ? 1 : sign | 1));
    bool const negative = (value.bits & sign) != 0;
    return T::from_bits(static_cast<bits>(value.bits + (up != negative ? 1 : -1)));
  }
}

// The values of T in [low, high], or [low, high), are those from first to last. Where there is
// none, both are the nearest of low. Infinite bounds stay.
template <class T> struct closed_range {
  double first;
  double last;

  closed_range(double low, double high, bool includes_high) : first(low), last(high) {
    if (std::isfinite(low)) {
      T at_low(low);
      if (static_cast<double>(at_low) < low) at_low = step(at_low, true);
      first = static_cast<double>(at_low);
    }
    if (std::isfinite(high)) {
      T at_high(high);
      double const value = static_cast<double>(at_high);
      if (value > high || (value == high && !includes_high)) at_high = step(at_high, false);
      last = static_cast<double>(at_high);
    }
    if (first > last) first = last = static_cast<double>(T(low));
  }
};

template <class T> bool is_finite_in(double value) {
  return std::isfinite(static_cast<double>(T(value)));
}

// target[i] = f(bits of element i), the bits being a word or a pair of words.
template <class Bits, class T, class F>
void fill_range(std::uint64_t key, T* target, std::int64_t begin, std::int64_t end, F f) {
  constexpr std::int64_t group_size = std::is_same_v<Bits, std::uint32_t> ? 64 : 32;
  for (std::int64_t i = begin; i < end; i += group_size) {
    alignas(64) Bits bits[group_size];
    if constexpr (group_size == 64)
      random_words(key, i / group_size, bits);
    else
      random_pairs(key, i / group_size, bits);
    T last_group[group_size];
    T* const to = end - i >= group_size ? target + i : last_group;
    for (int r = 0; r < group_size; ++r) to[r] = f(bits[r]);
    if (to == last_group) std::copy(last_group, last_group + (end - i), target + i);
  }
}

template <class Bits, class T, class F>
void fill(random::key key, void* target, std::int64_t count, F f) {
  T* const out = static_cast<T*>(target);
  if (count < 2 * grain)
    fill_range<Bits>(key.state(), out, 0, count, f);
  else
    parallel_chunks(count, grain, [&](std::int64_t begin, std::int64_t end) {
      fill_range<Bits>(key.state(), out, begin, end, f);
    });
}

// The type that computes for elements of T, and the bits that it draws.
template <class T> using computed = std::conditional_t<std::is_same_v<T, f64>, f64, f32>;
template <class T> using drawn =
    std::conditional_t<std::is_same_v<T, f64>, std::uint64_t, std::uint32_t>;

template <class C> C clamp(C value, C first, C last) {
  value = value < first ? first : value;
  return value > last ? last : value;
}

}  // namespace

void fill_uniform(random::key key, void* target, dtype type, std::int64_t count, double low,
                  double high) {
  check_count("uniform", count);
  visit_floating("uniform", type, [&]<class T>(std::type_identity<T>) {
    using C = computed<T>;
    if (!is_finite_in<T>(low) || !is_finite_in<T>(high) || !(low <= high) ||
        !std::isfinite(static_cast<C>(high) - static_cast<C>(low)))
      refuse("uniform", "the range is [" + std::to_string(low) + ", " + std::to_string(high) +
                            "); low must not exceed high, and both and their difference must be "
                            "finite in " +
                            std::string(name_of(type)));
    closed_range<T> const range(low, high, false);
    C const start = static_cast<C>(low);
    C const width = static_cast<C>(high) - start;
    C const first = static_cast<C>(range.first);
    C const last = static_cast<C>(range.last);
    fill<drawn<T>, T>(key, target, count, [=](drawn<T> bits) {
      return convert_value<T>(clamp(std::fma(uniform_value(bits), width, start), first, last));
    });
  });
}

void fill_normal(random::key key, void* target, dtype type, std::int64_t count, double mean,
                 double deviation) {
  check_count("normal", count);
  visit_floating("normal", type, [&]<class T>(std::type_identity<T>) {
    if (!is_finite_in<T>(mean) || !is_finite_in<T>(deviation) || deviation < 0)
      refuse("normal", "the mean is " + std::to_string(mean) + " and the standard deviation " +
                           std::to_string(deviation) + "; both must be finite in " +
                           std::string(name_of(type)) + ", and the second not negative");
    auto const center = static_cast<computed<T>>(mean);
    auto const scale = static_cast<computed<T>>(deviation);
    fill<drawn<T>, T>(key, target, count, [=](drawn<T> bits) {
      return convert_value<T>(std::fma(scale, normal_value(bits), center));
    });
  });
}

void fill_truncated_normal(random::key key, void* target, dtype type, std::int64_t count,
                           double mean, double deviation, double low, double high) {
  check_count("truncated_normal", count);
  visit_floating("truncated_normal", type, [&]<class T>(std::type_identity<T>) {
    if (!is_finite_in<T>(mean) || !is_finite_in<T>(deviation) || !(deviation > 0))
      refuse("truncated_normal", "the mean is " + std::to_string(mean) +
                                     " and the standard deviation " + std::to_string(deviation) +
                                     "; both must be finite in " + std::string(name_of(type)) +
                                     ", and the second positive");
    double const infinity = std::numeric_limits<double>::infinity();
    auto const is_bound = [](double x) { return std::isinf(x) || is_finite_in<T>(x); };
    if (!(low <= high) || !is_bound(low) || !is_bound(high) || low == infinity || high == -infinity)
      refuse(
          "truncated_normal",
          "the interval is [" + std::to_string(low) + ", " + std::to_string(high) +
              "]; low must not exceed high, and a bound that is not infinite must be finite in " +
              std::string(name_of(type)));
    // An interval above the mean is mirrored, because probabilities near one have lost digits.
    double const a = (low - mean) / deviation;
    double const b = (high - mean) / deviation;
    bool const mirrored = a > 0;
    double const lower = 0.5 * std::erfc((mirrored ? b : -a) * 0.70710678118654752);
    double const upper = 0.5 * std::erfc((mirrored ? a : -b) * 0.70710678118654752);
    double const width = upper - lower;
    double const scale = mirrored ? -deviation : deviation;
    closed_range<T> const range(low, high, true);
    fill<std::uint64_t, T>(key, target, count, [=](std::uint64_t pair) {
      double const z = normal_quantile(std::fma(uniform_value(pair), width, lower));
      double const value = clamp(std::fma(scale, z, mean), range.first, range.last);
      return convert_value<T>(static_cast<computed<T>>(value));
    });
  });
}

void fill_bernoulli(random::key key, void* target, std::int64_t count, double p) {
  check_count("bernoulli", count);
  if (!(p >= 0 && p <= 1))
    refuse("bernoulli", "the probability is " + std::to_string(p) + "; it must lie in [0, 1]");
  std::uint64_t const threshold = static_cast<std::uint64_t>(std::nearbyint(p * 0x1p32));
  if (threshold > 0xffffffffu) {
    fill<std::uint32_t, boolean>(key, target, count, [](std::uint32_t) { return true; });
    return;
  }
  std::uint32_t const bound = static_cast<std::uint32_t>(threshold);
  fill<std::uint32_t, boolean>(key, target, count,
                               [bound](std::uint32_t word) { return word < bound; });
}

}  // namespace ricci::kernels
