#include "kernels/convert/convert.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/visit_dtype.hpp>

#include "kernels/convert/convert_value.hpp"
#include "tests/unit/kernels/same_bytes.hpp"

namespace {

using namespace ricci;
using kernels::convert;
using kernels::convert_value;

// std::vector<bool> packs, so elements live in bytes.
template <class T> struct elements {
  explicit elements(std::size_t count) : bytes(count * sizeof(T)) {}
  T* data() { return reinterpret_cast<T*>(bytes.data()); }
  std::vector<unsigned char> bytes;
};

// Every pattern of the narrow types; for the wide ones the neighbourhoods of powers of two, of
// ties of every narrow format, and arbitrary bits.
template <class T> elements<T> samples() {
  if constexpr (std::is_same_v<T, boolean>) {
    elements<T> out(2);
    out.bytes[1] = 1;
    return out;
  } else if constexpr (sizeof(T) <= 2) {
    std::size_t const count = std::size_t{1} << (8 * sizeof(T));
    elements<T> out(count);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(&out.bytes[i * sizeof(T)], &i, sizeof(T));
    return out;
  } else {
    std::vector<T> values;
    std::uint64_t state = 7;
    for (int i = 0; i < 20000; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::uint64_t const random = state ^ (state >> 31);
      T value;
      std::memcpy(&value, &random, sizeof(T));
      values.push_back(value);
      if constexpr (std::is_floating_point_v<T>)
        values.push_back(static_cast<T>(std::ldexp(static_cast<f64>(random % 4096), i % 80 - 40)));
      else
        values.push_back(static_cast<T>(static_cast<i64>(random) >> (i % 64)));
    }
    for (int exponent = -150; exponent < 140; ++exponent)
      for (f64 const sign : {1.0, -1.0}) {
        f64 const power = std::ldexp(sign, exponent);
        if constexpr (std::is_floating_point_v<T>)
          for (T const direction : {T(0), T(2 * power)}) {
            values.push_back(static_cast<T>(power));
            values.push_back(std::nextafter(static_cast<T>(power), direction));
            values.push_back(static_cast<T>(power + sign * 0.5));
          }
      }
    if constexpr (std::is_floating_point_v<T>) {
      values.push_back(std::numeric_limits<T>::infinity());
      values.push_back(-std::numeric_limits<T>::infinity());
      values.push_back(std::numeric_limits<T>::quiet_NaN());
      values.push_back(T(-0.0));
    }
    values.push_back(std::numeric_limits<T>::min());
    values.push_back(std::numeric_limits<T>::max());
    values.push_back(std::numeric_limits<T>::lowest());
    elements<T> out(values.size());
    std::memcpy(out.data(), values.data(), out.bytes.size());
    return out;
  }
}

// Bit for bit, except that any NaN equals any other: a vector unit may quiet one that the scalar
// code passes on.
template <class T> bool same(T a, T b) {
  if constexpr (is_floating_v<T>) {
    if (std::isnan(static_cast<f64>(a)) || std::isnan(static_cast<f64>(b)))
      return std::isnan(static_cast<f64>(a)) && std::isnan(static_cast<f64>(b));
  }
  return same_bytes(&a, &b, sizeof(T));
}

template <class From, class To> int differences(elements<From>& source) {
  std::size_t const count = source.bytes.size() / sizeof(From);
  elements<To> target(count + 1);
  target.bytes[count * sizeof(To)] = 0xa5;
  convert(source.data(), dtype_of<From>, target.data(), dtype_of<To>, static_cast<i64>(count));
  int wrong = target.bytes[count * sizeof(To)] != 0xa5;  // the element behind the last
  for (std::size_t i = 0; i < count; ++i)
    wrong += !same(target.data()[i], convert_value<To>(source.data()[i]));
  return wrong;
}

TEST_CASE_TEMPLATE("convert is convert_value for every pair, whatever the bits", From, f64, f32,
                   f16, bf16, f8_e4m3, f8_e5m2, i64, i32, i16, i8, u16, u8, boolean) {
  elements<From> source = samples<From>();
  for (int i = 0; i < dtype_count; ++i)
    visit(static_cast<dtype>(i), [&]<class To>(std::type_identity<To>) {
      CAPTURE(name_of(dtype_of<To>));
      CHECK(differences<From, To>(source) == 0);
    });
}

// What truncation with cut ends means, in long double, which holds every value exactly.
template <class To, class From> bool is_truncated(From value) {
  long double const exact = static_cast<long double>(value);
  long double expected = std::trunc(exact);
  if (std::isnan(exact)) expected = 0;
  expected = std::fmax(expected, static_cast<long double>(std::numeric_limits<To>::min()));
  expected = std::fmin(expected, static_cast<long double>(std::numeric_limits<To>::max()));
  return static_cast<long double>(convert_value<To>(value)) == expected;
}

TEST_CASE_TEMPLATE("floats truncate toward zero and saturate", To, i64, i32, i16, i8, u16, u8) {
  int wrong = 0;
  auto const check = [&]<class From>(elements<From> source) {
    for (std::size_t i = 0; i < source.bytes.size() / sizeof(From); ++i)
      wrong += !is_truncated<To>(source.data()[i]);
  };
  check(samples<f32>());
  check(samples<f64>());
  CHECK(wrong == 0);
  CHECK(convert_value<To>(-1.5f) == (std::is_signed_v<To> ? To(-1) : To(0)));
  CHECK(convert_value<To>(bf16(3.9f)) == To(3));
  CHECK(convert_value<To>(std::numeric_limits<f64>::infinity()) == std::numeric_limits<To>::max());
}

TEST_CASE("integers wrap, booleans are zero and one") {
  CHECK(convert_value<i8>(i64{300}) == 44);
  CHECK(convert_value<u16>(i32{-1}) == 65535);
  CHECK(convert_value<boolean>(0.25f));
  CHECK(!convert_value<boolean>(-0.0));
  CHECK(!convert_value<boolean>(bf16(-0.0f)));
  CHECK(convert_value<boolean>(std::numeric_limits<f32>::quiet_NaN()));
  CHECK(convert_value<bf16>(true).bits == 0x3f80);
}

TEST_CASE("a byte of a file that is no bool reads as true") {
  unsigned char const bytes[4] = {0, 1, 2, 255};
  f32 values[4];
  convert(bytes, dtype::boolean, values, dtype::f32, 4);
  CHECK(values[0] == 0);
  CHECK(values[1] == 1);
  CHECK(values[2] == 1);
  CHECK(values[3] == 1);
}

TEST_CASE("every count, and enough elements for all threads") {
  std::vector<f32> source(100003);
  for (std::size_t i = 0; i < source.size(); ++i)
    source[i] = std::sin(static_cast<f32>(i)) * 1000.0f;
  std::vector<f16> half(source.size() + 1);
  std::vector<f8_e4m3> byte(source.size() + 1);
  for (i64 const count : {0, 1, 7, 8, 15, 1023, 1024, 1025, 32767, 32768, 32769, 65537, 100003}) {
    half.assign(half.size(), f16::from_bits(0x1234));
    convert(source.data(), dtype::f32, half.data(), dtype::f16, count);
    convert(half.data(), dtype::f16, byte.data(), dtype::f8_e4m3, count);
    int wrong = half[static_cast<std::size_t>(count)].bits != 0x1234;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      wrong += half[i].bits != f16(source[i]).bits ||
               byte[i].bits != f8_e4m3(static_cast<f32>(half[i])).bits;
    CAPTURE(count);
    CHECK(wrong == 0);
  }
  CHECK_THROWS_AS(convert(source.data(), dtype::f32, half.data(), dtype::f16, -1), value_error);
}

}  // namespace
