// Printing, as NumPy prints arrays. The rows (without the first line, which is ours) are those of
// NumPy 2.4.6, str(array), but for true and false.
#include "tests/unit/expr/values.hpp"

#include <sstream>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct A : axis<"a"> {};
struct B : axis<"b"> {};
struct C : axis<"c"> {};

std::string text(auto const& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}
template <class T> std::string row(std::initializer_list<T> values) {
  std::string const all = text(from<T, A>(values, A{values.size()}));
  return all.substr(all.find('\n') + 1);
}

}  // namespace

TEST_CASE("the first line names dtype, axes and extents") {
  CHECK(text(from<f32, A, B>({1, 2, 3, 4}, A{2}, B{2})) == "f32 [a 2, b 2]\n[[1. 2.]\n [3. 4.]]");
  CHECK(text(iota<i8, A>(A{3})) == "i8 [a 3]\n[0 1 2]");
  CHECK(text(from<bf16, A>({bf16(1)}, A{1})) == "bf16 [a 1]\n[1.]");
}

TEST_CASE("floats: points below each other, no digit too many") {
  CHECK(row<f64>({1, 2.5, 3.25}) == "[1.   2.5  3.25]");
  CHECK(row<f64>({1.0 / 3, 2.0 / 3, -0.0}) == "[ 0.33333333  0.66666667 -0.        ]");
  CHECK(row<f64>({123456.123456789, 500}) == "[123456.12345679    500.        ]");
  CHECK(row<f32>({0.1f, 0.2f}) == "[0.1 0.2]");
  CHECK(row<f64>({0, 0}) == "[0. 0.]");
  CHECK(row<f16>({f16(0.1), f16(3.14159)}) == "[0.1  3.14]");
}

TEST_CASE("floats: exponents where the magnitudes are far apart") {
  CHECK(row<f64>({1e-5, 1.5}) == "[1.0e-05 1.5e+00]");
  CHECK(row<f32>({0.1f, -2, 1000, 1e-3f}) == "[ 1.e-01 -2.e+00  1.e+03  1.e-03]");
  CHECK(row<f32>({1.0f / 3, 1e10f}) == "[3.3333334e-01 1.0000000e+10]");
  CHECK(row<f64>({1e-100, 1}) == "[1.e-100 1.e+000]");
}

TEST_CASE("what is not finite") {
  CHECK(row<f32>({not_a_number, 1.5f, infinity, -infinity}) == "[ nan  1.5  inf -inf]");
  CHECK(row<f32>({not_a_number, infinity}) == "[nan inf]");
}

TEST_CASE("integers and booleans stand to the right") {
  CHECK(row<i32>({-1, 10, 100}) == "[ -1  10 100]");
  CHECK(row<u8>({0, 255}) == "[  0 255]");
  CHECK(row<i64>({std::numeric_limits<i64>::min(), 1}) ==
        "[-9223372036854775808                    1]");
  CHECK(row<boolean>({true, false}) == "[ true false]");
}

TEST_CASE("every dtype prints") {
  CHECK(row<f8_e4m3>({f8_e4m3(0.5), f8_e4m3(448)}) == "[  0.5 448. ]");
  CHECK(row<f8_e5m2>({f8_e5m2(0.5), f8_e5m2(1.75)}) == "[0.5  1.75]");
  CHECK(row<bf16>({bf16(0.1), bf16(3.14159)}) == "[0.1  3.14]");
  CHECK(row<i16>({-300}) == "[-300]");
  CHECK(row<u16>({65535}) == "[65535]");
}

TEST_CASE("three axes have empty lines between the blocks") {
  tensor x = counting<f32, A, B, C>(A{2}, B{2}, C{4});
  CHECK(text(x) ==
        "f32 [a 2, b 2, c 4]\n"
        "[[[ 0.  1.  2.  3.]\n"
        "  [ 4.  5.  6.  7.]]\n"
        "\n"
        " [[ 8.  9. 10. 11.]\n"
        "  [12. 13. 14. 15.]]]");
}

TEST_CASE("more than 1000 elements are elided, at both ends of each axis") {
  CHECK(text(iota<i32, A>(A{2000})) == "i32 [a 2000]\n[   0    1    2 ... 1997 1998 1999]");
  CHECK(text(iota<i32, A>(A{1000})).find("...") == std::string::npos);
  CHECK(text(counting<i32, A, B>(A{40}, B{40})) ==
        "i32 [a 40, b 40]\n"
        "[[   0    1    2 ...   37   38   39]\n"
        " [  40   41   42 ...   77   78   79]\n"
        " [  80   81   82 ...  117  118  119]\n"
        " ...\n"
        " [1480 1481 1482 ... 1517 1518 1519]\n"
        " [1520 1521 1522 ... 1557 1558 1559]\n"
        " [1560 1561 1562 ... 1597 1598 1599]]");
}

TEST_CASE("long rows go on below") {
  CHECK(text(iota<i32, A>(A{40})) ==
        "i32 [a 40]\n"
        "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
        " 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39]");
}

TEST_CASE("rank 0 is its number; nothing is []") {
  CHECK(text(full<f32>(3)) == "3.0");
  CHECK(text(full<f32>(0.1)) == "0.1");
  CHECK(text(full<f64>(1e-5)) == "1e-05");
  CHECK(text(full<f64>(0.0001)) == "0.0001");
  CHECK(text(full<f64>(123456789)) == "123456789.0");
  CHECK(text(full<f64>(1e16)) == "1e+16");
  CHECK(text(full<f64>(-0.0)) == "-0.0");
  CHECK(text(full<f32>(-infinity)) == "-inf");
  CHECK(text(full<i8>(-3)) == "-3");
  CHECK(text(full<boolean>(true)) == "true");
  CHECK(text(zeros<f32, A, B>(A{2}, B{0})) == "f32 [a 2, b 0]\n[]");
  CHECK(text(tensor<f32, A>()) == "tensor (empty)");
}

TEST_CASE("views and expressions print their values") {
  tensor x = counting<i32, A, B>(A{2}, B{2});
  CHECK(text(permute<B, A>(x)) == "i32 [b 2, a 2]\n[[0 2]\n [1 3]]");
  CHECK(text(reverse<B>(at<A>(x, 1))) == "i32 [b 2]\n[3 2]");
  CHECK(text(x * 2) == "i32 [a 2, b 2]\n[[0 2]\n [4 6]]");
}

TEST_CASE("the stream's own width and flags are left alone") {
  std::ostringstream out;
  out.precision(3);
  out << std::hex << full<i32>(255) << " " << 255 << " " << 1.23456;
  CHECK(out.str() == "255 ff 1.23");
}
