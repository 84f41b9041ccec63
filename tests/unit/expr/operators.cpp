// Operators on all dtypes: rounding, wrapping, division, comparison, logic, numbers beside tensors.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct N : axis<"n"> {};
struct M : axis<"m"> {};
struct Two : axis<"two", 2> {};

template <class T> auto of(std::initializer_list<double> values) {
  std::vector<T> list;
  for (double const v : values) list.push_back(static_cast<T>(v));
  return from<T, N>(std::span<T const>(list), N{list.size()});
}
constexpr i64 i64_max = std::numeric_limits<i64>::max();
constexpr i64 i64_min = std::numeric_limits<i64>::min();

}  // namespace

TEST_CASE_TEMPLATE("arithmetic on floats", T, f64, f32, f16, bf16, f8_e4m3, f8_e5m2) {
  tensor a = of<T>({1, 2, -3, 4});
  tensor b = of<T>({2, 4, 2, -2});
  static_assert(same<decltype(tensor(a + b)), tensor<T, N>>);
  CHECK(numbers(a + b) == doubles{3, 6, -1, 2});
  CHECK(numbers(a - b) == doubles{-1, -2, -5, 6});
  CHECK(numbers(a * b) == doubles{2, 8, -6, -8});
  CHECK(numbers(a / b) == doubles{0.5, 0.5, -1.5, -2});
  CHECK(numbers(-a) == doubles{-1, -2, 3, -4});
  CHECK(numbers(a + 1) == doubles{2, 3, -2, 5});
  CHECK(numbers(1 - a) == doubles{0, -1, 4, -3});
  CHECK(numbers(0.5 * a) == doubles{0.5, 1, -1.5, 2});
  CHECK(numbers(2.0f / b) == doubles{1, 0.5, 1, -1});
  if (!same<T, f8_e4m3>) CHECK(numbers(a / 0)[0] == infinity);
  CHECK(list(a < b) == std::vector<bool>{true, true, true, false});
  CHECK(list(a <= 2) == std::vector<bool>{true, true, true, false});
  CHECK(list(2 > a) == std::vector<bool>{true, false, true, false});
  CHECK(list(a >= 2) == std::vector<bool>{false, true, false, true});
  CHECK(list(a == 2) == std::vector<bool>{false, true, false, false});
  CHECK(list(a != 2) == std::vector<bool>{true, false, true, true});
}

TEST_CASE_TEMPLATE("arithmetic on integers", T, i64, i32, i16, i8, u16, u8) {
  tensor a = of<T>({7, 20, 3, 8});
  tensor b = of<T>({2, 4, 5, 8});
  static_assert(same<decltype(tensor(a * b)), tensor<T, N>>);
  CHECK(numbers(a + b) == doubles{9, 24, 8, 16});
  CHECK(numbers(b * 3) == doubles{6, 12, 15, 24});
  CHECK(numbers(a - 3) == doubles{4, 17, 0, 5});
  CHECK(numbers(a / b) == doubles{3, 5, 0, 1});
  CHECK(list(a > b) == std::vector<bool>{true, true, false, false});
  CHECK(numbers(minimum(a, b)) == doubles{2, 4, 3, 8});
  CHECK(numbers(maximum(a, 5)) == doubles{7, 20, 5, 8});
  CHECK(numbers(clamp(a, 4, 8)) == doubles{7, 8, 4, 8});
  CHECK(numbers(square(b)) == doubles{4, 16, 25, 64});
  // Division by zero is 0, never a trap.
  CHECK(numbers(a / 0) == doubles{0, 0, 0, 0});
  CHECK(numbers(a / of<T>({0, 0, 0, 0})) == doubles{0, 0, 0, 0});
}

TEST_CASE("integers wrap") {
  CHECK(list(of<i8>({127, -128}) + 1) == std::vector<i8>{-128, -127});
  CHECK(list(of<u8>({255, 0}) + 1) == std::vector<u8>{0, 1});
  CHECK(list(of<u8>({0, 3}) - 1) == std::vector<u8>{255, 2});
  CHECK(list(of<i16>({32767}) * 2) == std::vector<i16>{-2});
  CHECK(list(of<u16>({65535}) * of<u16>({65535})) == std::vector<u16>{1});
  CHECK(list(of<i32>({2147483647}) + 1) == std::vector<i32>{-2147483648});
  tensor big = from<i64, N>({i64_max, i64_min}, N{2});
  CHECK(list(big + 1) == std::vector<i64>{i64_min, i64_min + 1});
  CHECK(list(big * 2) == std::vector<i64>{-2, 0});
  CHECK(list(-big) == std::vector<i64>{-i64_max, i64_min});
  CHECK(list(abs(big)) == std::vector<i64>{i64_max, i64_min});
  CHECK(list(big / -1) == std::vector<i64>{-i64_max, i64_min});
  CHECK(list(of<i8>({-128}) / -1) == std::vector<i8>{-128});
  CHECK(list(-of<u8>({1, 0})) == std::vector<u8>{255, 0});
  // Exact beyond 2^53.
  CHECK((full<i64>(i64_max) - i64_max).item() == 0);
  CHECK((full<i64>((i64{1} << 53) + 1) + 1).item() == (i64{1} << 53) + 2);
  CHECK(list(big > i64_max - 1) == std::vector<bool>{true, false});
  // Towards zero.
  CHECK(list(of<i32>({-7, 7}) / 2) == std::vector<i32>{-3, 3});
}

TEST_CASE("a number that the tensor's integer dtype does not hold") {
  tensor a = of<i8>({1, 2});
  for (auto const& said : {sentence<value_error>([&] { tensor t = a + 300; }),
                           sentence<value_error>([&] { tensor t = 300 * a; }),
                           sentence<value_error>([&] { tensor t = a < 300; }),
                           sentence<value_error>([&] { tensor t = where(a > 0, a, 300); }),
                           sentence<value_error>([&] { tensor t = maximum(a, 300); })})
    CHECK(has(said, {"300", "i8"}));
  CHECK(has(sentence<value_error>([&] { tensor t = of<u8>({1}) - -1; }), {"-1", "u8"}));
  CHECK(has(sentence<value_error>([&] { tensor t = of<i64>({1}) + ~std::uint64_t{0}; }),
            {"18446744073709551615", "i64"}));
  CHECK(numbers(of<i64>({1}) + 5u) == doubles{6});
  CHECK(numbers(of<i8>({1}) + i64{5}) == doubles{6});
}

TEST_CASE("narrow floats compute in f32 and round once, at the end of the statement") {
  CHECK(numbers(of<bf16>({256}) + 1 + 1) == doubles{258});
  // 256 + 1 is no bf16; to nearest even it is 256.
  CHECK(numbers(of<bf16>({256}) + 1) == doubles{256});
  CHECK(numbers(of<bf16>({257}) + 0) == doubles{256});
  CHECK(numbers(of<f16>({2048}) + 1) == doubles{2048});
  CHECK(numbers(of<f16>({65504}) * 2)[0] == infinity);
  CHECK(numbers(of<f8_e5m2>({57344}) * 2)[0] == infinity);
  CHECK(std::isnan(numbers(of<f8_e4m3>({448}) * 2)[0]));
  // A number takes the tensor's dtype: 0.1 is the nearest bf16 ... or f32, at most one rounding
  // later.
  CHECK(numbers(of<f32>({0}) + 0.1)[0] == static_cast<double>(0.1f));
  CHECK(numbers(of<f64>({0}) + 0.1)[0] == 0.1);
}

TEST_CASE("comparisons with NaN, zeros of both signs") {
  tensor a = of<f32>({not_a_number, 0, infinity});
  CHECK(list(a == a) == std::vector<bool>{false, true, true});
  CHECK(list(a != a) == std::vector<bool>{true, false, false});
  CHECK(list(a < 1) == std::vector<bool>{false, true, false});
  CHECK(list(a >= 1) == std::vector<bool>{false, false, true});
  CHECK(list(of<f32>({-0.0}) == 0) == std::vector<bool>{true});
  CHECK(std::isnan(numbers(minimum(a, 1))[0]));
  CHECK(std::isnan(numbers(maximum(1, a))[0]));
}

TEST_CASE("logic takes boolean") {
  tensor p = from<boolean, N>({true, true, false, false}, N{4});
  tensor q = from<boolean, N>({true, false, true, false}, N{4});
  static_assert(same<decltype(tensor(p && q)), tensor<boolean, N>>);
  CHECK(list(p && q) == std::vector<bool>{true, false, false, false});
  CHECK(list(p || q) == std::vector<bool>{true, true, true, false});
  CHECK(list(!p) == std::vector<bool>{false, false, true, true});
  CHECK(list(p == q) == std::vector<bool>{true, false, false, true});
  CHECK(list(p != q) == std::vector<bool>{false, true, true, false});
  CHECK(list(p && true) == std::vector<bool>{true, true, false, false});
  tensor x = of<f32>({1, 2, 3, 4});
  CHECK(list(x > 1 && x < 4) == std::vector<bool>{false, true, true, false});
  CHECK(list(!(x > 1) || x == 4) == std::vector<bool>{true, false, false, true});
}

TEST_CASE("where: masks, tensors, numbers") {
  tensor x = of<f32>({-1, 2, -3});
  static_assert(same<decltype(tensor(where(x > 0, x, 0))), tensor<f32, N>>);
  CHECK(numbers(where(x > 0, x, 0)) == doubles{0, 2, 0});
  CHECK(numbers(where(x > 0, 1.5, x)) == doubles{-1, 1.5, -3});
  CHECK(numbers(where(x > 0, x, x * 10)) == doubles{-10, 2, -30});
  tensor i = of<i16>({1, 2, 3});
  CHECK(list(where(i == 2, i, 7)) == std::vector<i16>{7, 2, 7});
  CHECK(list(where(from<boolean, N>({true, false, true}, N{3}),
                   from<boolean, N>({false, false, true}, N{3}), true)) ==
        std::vector<bool>{false, true, true});
  CHECK(list(where(x > 0, from<i64, N>({i64_max, i64_max, 5}, N{3}), 4)) ==
        std::vector<i64>{4, i64_max, 4});
  // The mask broadcasts too, and what is not chosen does no harm.
  tensor wide = counting<f32, M, N>(M{2}, N{3});
  CHECK(numbers(where(x > 0, wide, -1)) == doubles{-1, 1, -1, -1, 4, -1});
  tensor wide_mask = wide > 2;
  CHECK(numbers(where(wide_mask, x, 0)) == doubles{0, 0, 0, -1, 2, -3});
  CHECK(numbers(where(x > 0, x, log(x)))[1] == 2);
}

TEST_CASE("rank 0 beside numbers and tensors") {
  tensor s = full<f32>(3);
  static_assert(same<decltype(tensor(2 * s)), tensor<f32>>);
  CHECK((2 * s).item() == 6);
  CHECK((1 - s).item() == -2);
  CHECK((s / 2).item() == 1.5f);
  CHECK((2 < s).item());
  CHECK(pow(2, s).item() == doctest::Approx(8));
  CHECK(minimum(2, s).item() == 2);
  CHECK(where(s > 2, 1, s).item() == 1);
  CHECK(where(full<boolean>(false), s, 1).item() == 1);
  CHECK(clamp(s, 0, 1).item() == 1);
  tensor x = of<f32>({1, 2});
  CHECK(numbers(s * x) == doubles{3, 6});
  CHECK(numbers(x - mean(x)) == doubles{-0.5, 0.5});
  CHECK(numbers(1 - mean(x) * 2) == doubles{-2});
}
