// Elementwise operators broadcast by name: subsets, orders, extent 1, rank 0, outer.
#include "tests/unit/expr/values.hpp"

using namespace ricci;
using namespace ricci::testing;

namespace {

struct A : axis<"a"> {};
struct B : axis<"b"> {};
struct C : axis<"c", 2> {};

auto wide() { return counting<f64, A, B, C>(A{2}, B{3}); }

template <class X, class Y>
concept adds = !same<decltype(std::declval<X>() + std::declval<Y>()), poisoned>;

}  // namespace

TEST_CASE("a subset of the axes, anywhere") {
  tensor x = wide();
  auto const check = [&](auto const& y) {
    tensor z = x + y;
    static_assert(same<decltype(z), tensor<f64, A, B, C>>);
    tensor w = y * 1 + x;
    static_assert(same<decltype(w), tensor<f64, A, B, C>>);
    CHECK(list(z) == list(w));
    return z;
  };
  tensor b = from<f64, B>({100, 200, 300}, B{3});
  CHECK(check(b)(A{1}, B{2}, C{1}) == 11 + 300);
  CHECK(check(from<f64, C>({10, 20}))(A{1}, B{0}, C{1}) == 7 + 20);
  CHECK(check(from<f64, A>({10, 20}, A{2}))(A{0}, B{1}, C{1}) == 3 + 10);
  tensor ac = counting<f64, C, A>(A{2});
  CHECK(check(ac)(A{1}, B{1}, C{0}) == 8 + 1);
  CHECK(check(full<f64>(5))(A{0}, B{0}, C{0}) == 5);
}

TEST_CASE("equal sets of axes: the first operand's order") {
  tensor x = wide();
  tensor y = permute<C, A, B>(x);
  tensor z = x + y;
  static_assert(same<decltype(z), tensor<f64, A, B, C>>);
  tensor w = y + x;
  static_assert(same<decltype(w), tensor<f64, C, A, B>>);
  CHECK(numbers(z) == numbers(x * 2));
  CHECK(numbers(w) == numbers(y * 2));
}

TEST_CASE("the larger operand's order, though it is the second") {
  tensor b = from<f64, B>({1, 2, 3}, B{3});
  tensor z = b - wide();
  static_assert(same<decltype(z), tensor<f64, A, B, C>>);
  CHECK(z(A{1}, B{2}, C{0}) == 3 - 10);
  // Three operands: the widest of them.
  tensor m = where(b > 1, full<f64>(0), wide());
  static_assert(same<decltype(m), tensor<f64, A, B, C>>);
  CHECK(m(A{1}, B{0}, C{1}) == 7);
  CHECK(m(A{1}, B{1}, C{1}) == 0);
}

TEST_CASE("extent 1 is an extent like any other, 0 too") {
  tensor x = zeros<f64, A, B>(A{2}, B{3});
  for (int const n : {1, 0, 2, 4})
    CHECK(has(sentence([&] { (void)(x + zeros<f64, B>(B{n})); }),
              {"+: axis `b` has extent 3 in operand 1 and ", "in operand 2", "[a 2, b 3]"}));
  CHECK(has(sentence([&] { (void)(zeros<f64, B>(B{1}) * x); }),
            {"*: axis `b` has extent 1 in operand 1 and 3 in operand 2"}));
  CHECK(has(sentence([&] { (void)where(x > 0, x, zeros<f64, A>(A{5})); }),
            {"where: axis `a`", "2", "5", "operand 3"}));
  CHECK(numbers(zeros<f64, A, B>(A{0}, B{3}) + ones<f64, B>(B{3})).empty());
  CHECK(numbers(zeros<f64, A>(A{1}) + ones<f64, A>(A{1})) == doubles{1});
}

TEST_CASE("views and broadcast views as operands") {
  tensor x = wide();
  tensor b = from<f64, B>({100, 200, 300}, B{3});
  CHECK(numbers(x + broadcast<A>(b, A{2})) == numbers(x + b));
  CHECK(numbers(at<C>(x, 1) + reverse<B>(b)) ==
        numbers(tensor(at<C>(x, 1)) + tensor(reverse<B>(b))));
  CHECK(numbers(at<A>(x, 0) * at<A>(x, 1)) == doubles{0, 7, 16, 27, 40, 55});
}

TEST_CASE("outer") {
  tensor a = from<f64, A>({1, 2}, A{2});
  tensor b = from<f64, B>({10, 20, 30}, B{3});
  tensor z = outer(a, b);
  static_assert(same<decltype(z), tensor<f64, A, B>>);
  CHECK(numbers(z) == doubles{10, 20, 30, 20, 40, 60});
  static_assert(same<decltype(tensor(outer(b, counting<f64, A, C>(A{1})))), tensor<f64, B, A, C>>);
  CHECK(numbers(outer(b, counting<f64, A, C>(A{1}))) == doubles{0, 10, 0, 20, 0, 30});
  CHECK(numbers(outer(full<f64>(2), b)) == doubles{20, 40, 60});
  CHECK(outer(full<f64>(2), full<f64>(3)).item() == 6);
  CHECK(numbers(outer(a + 1, b * 2)) == doubles{40, 80, 120, 60, 120, 180});
  CHECK(numbers(outer(zeros<f64, A>(A{0}), b)).empty());
  tally const ran;
  tensor y = outer(a, b) + 1;
  CHECK(ran.passes() == 1);
}
