// to<>: all pairs of dtypes, rounding, saturation, NaN, fusing.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct N : axis<"n"> {};

template <class T> auto of(std::initializer_list<double> values) {
  tensor x = from<f64, N>(values, N{values.size()});
  return tensor(to<T>(x));
}

template <class From, class... To> void small_numbers_survive(pack<To...>) {
  auto const values = numbers(of<From>({0, 1, 2, 3}));
  doubles const kept = same<From, boolean> ? doubles{0, 1, 1, 1} : doubles{0, 1, 2, 3};
  CHECK(values == kept);
  auto const one = [&]<class T>() {
    tensor y = to<T>(of<From>({0, 1, 2, 3}));
    static_assert(same<decltype(y), tensor<T, N>>);
    CHECK(numbers(y) == (same<T, boolean> ? doubles{0, 1, 1, 1} : kept));
  };
  (one.template operator()<To>(), ...);
}

using everything = pack<f64, f32, f16, bf16, f8_e4m3, f8_e5m2, i64, i32, i16, i8, u16, u8, boolean>;
template <class... From> void all_pairs(pack<From...>) {
  (small_numbers_survive<From>(everything{}), ...);
}

}  // namespace

TEST_CASE("all pairs of the thirteen dtypes") { all_pairs(everything{}); }

TEST_CASE("floats round to nearest, ties to even") {
  CHECK(numbers(of<bf16>({257, 259, 1.00390625})) == doubles{256, 260, 1});
  CHECK(numbers(of<f16>({2049, 2051, 65519, 65520})) == doubles{2048, 2052, 65504, infinity});
  CHECK(numbers(of<f8_e4m3>({17, 19, 448, 464})) == doubles{16, 20, 448, 448});
  CHECK(std::isnan(numbers(of<f8_e4m3>({480}))[0]));
  CHECK(numbers(of<f8_e5m2>({9, 11, 57344, 70000})) == doubles{8, 12, 57344, infinity});
  CHECK(numbers(of<f32>({1 + 1e-9, 1e300})) == doubles{1, infinity});
  // Once, not through f32: 1 + 2^-8 + 2^-40 lies above the tie of bf16.
  CHECK(numbers(of<bf16>({1 + std::ldexp(1, -8) + std::ldexp(1, -40)})) ==
        doubles{1 + std::ldexp(1, -7)});
  CHECK(numbers(to<bf16>(full<i64, N>((i64{1} << 32) + (i64{1} << 24) + 1, N{1}))) ==
        doubles{std::ldexp(1, 32) + std::ldexp(1, 25)});
}

TEST_CASE("to integers: truncated, out of range the nearest bound, NaN 0") {
  double const inf = infinity;
  double const none = not_a_number;
  CHECK(numbers(of<i32>({1.9, -1.9, 0.5, none, inf, -inf})) ==
        doubles{1, -1, 0, 0, 2147483647, -2147483648.0});
  CHECK(numbers(of<i8>({127.5, 128, -129, 1e30})) == doubles{127, 127, -128, 127});
  CHECK(numbers(of<u8>({-1, 255.9, 256, none})) == doubles{0, 255, 255, 0});
  CHECK(numbers(of<u16>({-0.5, 65535, 1e9})) == doubles{0, 65535, 65535});
  CHECK(list(of<i64>({1e300, -1e300, 9e18})) == std::vector<i64>{std::numeric_limits<i64>::max(),
                                                                 std::numeric_limits<i64>::min(),
                                                                 i64{9000000000000000000}});
  // Between integers modulo 2^bits, as in C++ and NumPy.
  CHECK(numbers(to<i8>(from<i64, N>({300, -300, 5}, N{3}))) == doubles{44, -44, 5});
  CHECK(numbers(to<u8>(from<i8, N>({-1, 127}, N{2}))) == doubles{255, 127});
  CHECK(numbers(to<i32>(from<f16, N>({f16(infinity), f16(-2.5f)}, N{2}))) ==
        doubles{2147483647, -2});
  CHECK(numbers(of<boolean>({0, -0.0, 0.1, none, inf})) == doubles{0, 0, 1, 1, 1});
}

TEST_CASE("the same dtype is the same value; a device too") {
  tensor x = of<f32>({1, 2});
  tensor y = to<f32>(x);
  CHECK(shares(x, y));
  tensor z = to<host>(x);
  static_assert(same<decltype(z), tensor<f32, N>>);
  CHECK(shares(x, z));
  CHECK(numbers(to<host>(x + 1)) == doubles{2, 3});
}

TEST_CASE("a conversion is an instruction of the loop") {
  tensor x = of<bf16>({1, 2, 3});
  tally const ran;
  tensor y = to<bf16>(to<f32>(x) * 0.5 + 1);
  CHECK(ran.passes() == 1);
  CHECK(numbers(y) == doubles{1.5, 2, 2.5});
  // Through a narrow dtype and back rounds, fused or not.
  CHECK(numbers(to<f32>(to<bf16>(of<f32>({257})))) == doubles{256});
  CHECK(numbers(to<f64>(to<i32>(of<f64>({2.7})) * 2)) == doubles{4});
  CHECK(numbers(to<f32>(to<u8>(of<f32>({300}) + 1))) == doubles{255});
}
