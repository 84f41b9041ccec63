#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include <ricci/tensor/dtype.hpp>
#include <ricci/tensor/visit_dtype.hpp>

namespace {

using namespace ricci;

static_assert(Dtype<bf16> && Dtype<boolean> && Dtype<i64>);
static_assert(!Dtype<unsigned long> && !Dtype<long double> && !Dtype<f32 const>);
static_assert(dtype_of<f8_e5m2> == dtype::f8_e5m2);
static_assert(is_floating_v<bf16> && !is_floating_v<i8> && !is_floating_v<boolean>);
static_assert(is_integer_v<u8> && !is_integer_v<boolean> && !is_integer_v<f16>);
static_assert(std::is_same_v<accumulator_t<bf16>, f32> && std::is_same_v<accumulator_t<f64>, f64>);
static_assert(std::is_same_v<accumulator_t<u8>, i64> && std::is_same_v<accumulator_t<bool>, i64>);
static_assert(std::is_same_v<sum_result_t<f16>, f16> && std::is_same_v<sum_result_t<i8>, i64>);
static_assert(std::is_trivial_v<bf16> && std::is_trivial_v<f8_e4m3>, "storage is raw bytes");

// The four narrow formats, computed in long double (64 bits of precision, so that every f64 and
// every i64 is exact) from their definition: no code in common with minifloat.hpp.
template <class T> struct definition;
template <> struct definition<bf16> {
  static constexpr int mantissa = 7, bias = 127, width = 16;
  static constexpr bool has_infinity = true;
};
template <> struct definition<f16> {
  static constexpr int mantissa = 10, bias = 15, width = 16;
  static constexpr bool has_infinity = true;
};
template <> struct definition<f8_e4m3> {
  static constexpr int mantissa = 3, bias = 7, width = 8;
  static constexpr bool has_infinity = false;
};
template <> struct definition<f8_e5m2> {
  static constexpr int mantissa = 2, bias = 15, width = 8;
  static constexpr bool has_infinity = true;
};

template <class T> long double value_of_bits(unsigned bits) {
  using format = definition<T>;
  int const mantissa = static_cast<int>(bits & ((1u << format::mantissa) - 1));
  int const ones = (1 << (format::width - 1 - format::mantissa)) - 1;
  int const field = static_cast<int>(bits >> format::mantissa) & ones;
  bool const negative = (bits >> (format::width - 1)) != 0;
  long double magnitude;
  if (field == ones && format::has_infinity)
    magnitude = mantissa == 0 ? std::numeric_limits<long double>::infinity()
                              : std::numeric_limits<long double>::quiet_NaN();
  else if (field == ones && mantissa == (1 << format::mantissa) - 1)
    magnitude = std::numeric_limits<long double>::quiet_NaN();
  else if (field == 0)
    magnitude = std::ldexp(static_cast<long double>(mantissa), 1 - format::bias - format::mantissa);
  else
    magnitude = std::ldexp(1.0L + std::ldexp(static_cast<long double>(mantissa), -format::mantissa),
                           field - format::bias);
  return negative ? -magnitude : magnitude;
}

template <class T> long double largest() {
  using format = definition<T>;
  unsigned const infinity = ((1u << (format::width - 1)) - 1) >> format::mantissa
                                                                     << format::mantissa;
  return value_of_bits<T>(format::has_infinity ? infinity - 1 : (1u << (format::width - 1)) - 2);
}

template <class T> long double rounded(long double value) {
  using format = definition<T>;
  if (std::isnan(value) || value == 0) return value;
  long double magnitude = std::abs(value);
  if (!std::isinf(value)) {
    int exponent = 0;
    std::frexp(magnitude, &exponent);  // magnitude in [2^(exponent - 1), 2^exponent)
    exponent = std::max(exponent - 1, 1 - format::bias) - format::mantissa;
    magnitude = std::ldexp(std::nearbyint(std::ldexp(magnitude, -exponent)), exponent);
  }
  if (magnitude > largest<T>())
    magnitude = format::has_infinity ? std::numeric_limits<long double>::infinity()
                                     : std::numeric_limits<long double>::quiet_NaN();
  return std::copysign(magnitude, value);
}

bool same(long double a, long double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

template <class T, class V> bool is_rounded(V value) {
  return same(value_of_bits<T>(T(value).bits), rounded<T>(static_cast<long double>(value)));
}

template <class V> V beside(V value, V direction) { return std::nextafter(value, direction); }

TEST_CASE_TEMPLATE("every bit pattern has its value and converts back to itself", T, bf16, f16,
                   f8_e4m3, f8_e5m2) {
  int wrong = 0;
  for (unsigned bits = 0; bits < 1u << definition<T>::width; ++bits) {
    T const x = T::from_bits(static_cast<decltype(T::bits)>(bits));
    long double const expected = value_of_bits<T>(bits);
    f32 const value = static_cast<f32>(x);
    wrong += !same(value, expected) || !same(static_cast<f64>(x), expected);
    if (std::isnan(value))
      wrong += !std::isnan(static_cast<f32>(T(value))) || (x == x);
    else
      wrong += T(value).bits != bits || T(static_cast<f64>(x)).bits != bits || !(x == x);
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("every tie goes to even and its neighbours to the nearest", T, bf16, f16,
                   f8_e4m3, f8_e5m2) {
  int wrong = 0;
  using bits_type = decltype(T::bits);
  for (unsigned bits = 0; value_of_bits<T>(bits) < largest<T>(); ++bits) {
    for (f64 const sign : {1.0, -1.0}) {
      f64 const below = sign * static_cast<f64>(value_of_bits<T>(bits));
      f64 const above = sign * static_cast<f64>(value_of_bits<T>(bits + 1));
      f64 const tie = below + (above - below) / 2;
      bits_type const sign_bit =
          static_cast<bits_type>(sign < 0 ? 1u << (definition<T>::width - 1) : 0u);
      bits_type const lower = static_cast<bits_type>(bits | sign_bit);
      bits_type const upper = static_cast<bits_type>((bits + 1) | sign_bit);
      bits_type const even = (bits & 1u) == 0 ? lower : upper;
      f32 const tie32 = static_cast<f32>(tie);
      REQUIRE(static_cast<f64>(tie32) == tie);
      wrong += T(tie).bits != even || T(tie32).bits != even;
      wrong += T(beside(tie, below)).bits != lower || T(beside(tie, above)).bits != upper;
      wrong += T(beside(tie32, static_cast<f32>(below))).bits != lower;
      wrong += T(beside(tie32, static_cast<f32>(above))).bits != upper;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("overflow, infinities and NaN", T, bf16, f16, f8_e4m3, f8_e5m2) {
  f64 const max = static_cast<f64>(largest<T>());
  f64 const step = max - static_cast<f64>(value_of_bits<T>(T(max).bits - 1u));
  f64 const tie = max + step / 2;
  for (f64 const x : {max, beside(tie, max), tie, beside(tie, 2 * tie), 2 * max, 1e300,
                      std::numeric_limits<f64>::infinity(), std::numeric_limits<f64>::quiet_NaN(),
                      0.0, 5e-324, 1e-60}) {
    CAPTURE(x);
    CHECK(is_rounded<T>(x));
    CHECK(is_rounded<T>(-x));
    CHECK(is_rounded<T>(static_cast<f32>(x)));
  }
  // The signalling NaN of f32 whose payload would be lost stays a NaN.
  CHECK(std::isnan(static_cast<f32>(T(std::bit_cast<f32>(0x7f800001u)))));
}

TEST_CASE_TEMPLATE("floats of every exponent and integers of every size round once", T, bf16, f16,
                   f8_e4m3, f8_e5m2) {
  int wrong = 0;
  std::uint64_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::uint64_t const random = state ^ (state >> 29);
    wrong += !is_rounded<T>(std::bit_cast<f32>(static_cast<std::uint32_t>(random >> 16)));
    // An exponent near the format's range; few mantissa bits at times, for ties in f64.
    int const exponent = static_cast<int>(random % 60) - 35;
    std::uint64_t const kept = ~std::uint64_t{0} << (random % 53);
    f64 const wide =
        std::ldexp(static_cast<f64>((random >> 11 & kept) | 1u << (random % 2)), exponent - 53);
    wrong += !is_rounded<T>(wide) || !is_rounded<T>(-wide);
    i64 const whole = static_cast<i64>(random) >> (state >> 58);
    wrong += !is_rounded<T>(whole) || !is_rounded<T>(static_cast<i32>(whole));
    wrong += !is_rounded<T>(static_cast<u16>(whole)) || !is_rounded<T>(static_cast<i8>(whole));
  }
  CHECK(wrong == 0);
  CHECK(is_rounded<T>(std::numeric_limits<i64>::min()));
  CHECK(is_rounded<T>(std::numeric_limits<i64>::max()));
  CHECK(is_rounded<T>(true));
  // Half a unit of bf16 and one more, lost by an f64 on the way.
  CHECK(is_rounded<T>((i64{1} << 62) + (i64{1} << 54) + 1));
}

TEST_CASE("conversions are constant expressions") {
  static_assert(f16(65519.99).bits == 0x7bff && f16(65520).bits == 0x7c00);
  static_assert(f8_e4m3(464).bits == 0x7e && f8_e4m3(465).bits == 0x7f);
  static_assert(f8_e5m2(1e30f).bits == 0x7c);
  static_assert(static_cast<f32>(f16(0x1p-24f)) == 0x1p-24f);
  static_assert(bf16(0.0f) == bf16(-0.0f) && bf16(0.0f).bits != bf16(-0.0f).bits);
  static_assert(f16(std::numeric_limits<f32>::quiet_NaN()).bits == 0x7e00);
}

TEST_CASE("names, sizes and visit agree for every dtype") {
  std::string names;
  for (int i = 0; i < dtype_count; ++i) {
    dtype const type = static_cast<dtype>(i);
    names += std::string(name_of(type)) + " ";
    visit(type, [type]<class T>(std::type_identity<T>) {
      CHECK(dtype_of<T> == type);
      CHECK(name_of<T>() == name_of(type));
      CHECK(size_of(type) == static_cast<i64>(sizeof(T)));
      CHECK(is_floating(type) == is_floating_v<T>);
      CHECK(is_integer(type) == is_integer_v<T>);
      CHECK(accumulator_of(type) == dtype_of<accumulator_t<T>>);
      CHECK(sum_result_of(type) == dtype_of<sum_result_t<T>>);
    });
  }
  CHECK(names == "f64 f32 f16 bf16 f8_e4m3 f8_e5m2 i64 i32 i16 i8 u16 u8 boolean ");
  CHECK_THROWS_AS(visit(static_cast<dtype>(13), [](auto) {}), value_error);
}

}  // namespace
