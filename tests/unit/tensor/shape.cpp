// shape: extents by axis, comparison, printing; places; item; ranks 0 and 24.
#include "tests/unit/expr/values.hpp"

#include <sstream>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 4> {};

std::string text(auto const& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

}  // namespace

TEST_CASE("extents by axis") {
  tensor x = zeros<f32, Batch, Hidden>(Batch{3});
  auto const s = x.shape();
  static_assert(same<decltype(x.shape()), shape<Batch, Hidden>>);
  CHECK(s.extent<Batch>() == 3);
  CHECK(s.extent<Hidden>() == 4);
  CHECK(s.element_count() == 12);
  CHECK(s == shape<Batch, Hidden>{{3, 4}});
  CHECK(s != shape<Batch, Hidden>{{2, 4}});
  static_assert(decltype(s)::rank == 2);
  CHECK(text(s) == "[batch 3, hidden 4]");
  CHECK(text(full<f32>(1).shape()) == "[]");
  CHECK(full<f32>(1).shape().element_count() == 1);
  CHECK((x + 1).shape() == s);
}

TEST_CASE("places: axes in any order, positions of any integer type") {
  tensor x = counting<f32, Batch, Hidden>(Batch{3});
  CHECK(x(Batch{1}, Hidden{3}) == 7);
  CHECK(x(Hidden{3}, Batch{1}) == 7);
  CHECK(x(Hidden{std::uint8_t{3}}, Batch{1ull}) == 7);
  static_assert(same<decltype(x(Batch{0}, Hidden{0})), f32>);
  static_assert(!std::is_constructible_v<Batch, double> && !std::is_constructible_v<Batch, float>);
  CHECK((x * 2)(Batch{0}, Hidden{1}) == 2);
  static_assert(same<decltype(full<bf16>(1).item()), bf16>);
  CHECK((full<i64>(3) * 2).item() == 6);
}

TEST_CASE("axes as types") {
  static_assert(Hidden::static_extent == 4 && Batch::static_extent == dynamic_extent);
  static_assert(Hidden::name.view() == "hidden");
  static_assert(("... " + Hidden::name + " -> " + Batch::name).view() == "... hidden -> batch");
  static_assert(prime<Batch>::static_extent == dynamic_extent);
  static_assert(Axis<Batch> && Axis<prime<Batch>> && !Axis<f32>);
  constexpr Batch eight{8};
  static_assert(eight.value == 8);
}

namespace {
template <int I> struct Ax;
#define RICCI_TEST_AXIS(n, text)          \
  template <> struct Ax<n> : axis<text> { \
    using axis<text>::axis;               \
  };
RICCI_TEST_AXIS(0, "a0")
RICCI_TEST_AXIS(1, "a1") RICCI_TEST_AXIS(2, "a2") RICCI_TEST_AXIS(3, "a3") RICCI_TEST_AXIS(4, "a4")
    RICCI_TEST_AXIS(5, "a5") RICCI_TEST_AXIS(6, "a6") RICCI_TEST_AXIS(7, "a7")
        RICCI_TEST_AXIS(8, "a8") RICCI_TEST_AXIS(9, "a9") RICCI_TEST_AXIS(10, "a10")
            RICCI_TEST_AXIS(11, "a11") RICCI_TEST_AXIS(12, "a12") RICCI_TEST_AXIS(13, "a13")
                RICCI_TEST_AXIS(14, "a14") RICCI_TEST_AXIS(15, "a15") RICCI_TEST_AXIS(16, "a16")
                    RICCI_TEST_AXIS(17, "a17") RICCI_TEST_AXIS(18, "a18") RICCI_TEST_AXIS(19, "a19")
                        RICCI_TEST_AXIS(20, "a20") RICCI_TEST_AXIS(21, "a21")
                            RICCI_TEST_AXIS(22, "a22") RICCI_TEST_AXIS(23, "a23")

                                template <int... I>
                                auto tensor_of_24(std::integer_sequence<int, I...>) {
  // 2^4 elements: every sixth axis has extent 2.
  return counting<f32, Ax<I>...>(Ax<I>{I % 6 == 0 ? 2 : 1}...);
}
template <class X, int... I> auto turned(X const& x, std::integer_sequence<int, I...>) {
  return permute<Ax<23 - I>...>(x);
}
template <class X, int... I> auto at_ones(X const& x, std::integer_sequence<int, I...>) {
  return x(Ax<I>{I % 6 == 0 ? 1 : 0}...);
}
}  // namespace

TEST_CASE("24 axes") {
  using all = std::make_integer_sequence<int, 24>;
  tensor x = tensor_of_24(all{});
  static_assert(decltype(x)::rank == 24);
  CHECK(x.shape().element_count() == 16);
  CHECK(at_ones(x, all{}) == 15);
  auto v = turned(x, all{});
  CHECK(at_ones(v, all{}) == 15);
  CHECK(numbers(v)[1] == 8);
  CHECK(numbers(exp(v * 0)) == doubles(16, 1));
  CHECK(numbers(x + v)[1] == 2);
  CHECK(sum(x).item() == 120);
  CHECK(numbers(sum<Ax<0>>(x)) == doubles{8, 10, 12, 14, 16, 18, 20, 22});
  CHECK(einsum<"..., ... -> ">(x, v).item() == 1240);
  CHECK(numbers(einsum<"... a0, ... a0 -> ...">(x, v)) ==
        doubles{64, 82, 104, 130, 160, 194, 232, 274});
  CHECK(numbers(softmax<Ax<18>>(x * 0)) == doubles(16, 0.5));
  CHECK(numbers(reverse<Ax<18>>(x))[0] == 1);
  CHECK(numbers(rearrange<"... a18 -> a18 ...">(x))[1] == 2);
  CHECK(text(x.shape()).size() > 100);
  CHECK(numbers(grad([](auto const& u) { return sum(square(u)); }, x))[3] == 6);
}
