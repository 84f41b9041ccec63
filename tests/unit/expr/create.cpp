// zeros, ones, full, from, iota, extent_of: extents by value, every dtype, what does not fit
// throws.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 3> {};
struct None : axis<"none", 0> {};

template <class F> void for_each_dtype(F f) {
  f.template operator()<f64>();
  f.template operator()<f32>();
  f.template operator()<f16>();
  f.template operator()<bf16>();
  f.template operator()<f8_e4m3>();
  f.template operator()<f8_e5m2>();
  f.template operator()<i64>();
  f.template operator()<i32>();
  f.template operator()<i16>();
  f.template operator()<i8>();
  f.template operator()<u16>();
  f.template operator()<u8>();
  f.template operator()<boolean>();
}

}  // namespace

TEST_CASE("dynamic extents by value, in any order; static ones are not given") {
  tensor x = zeros<f32, Batch, Hidden>(Batch{2});
  static_assert(same<decltype(x), tensor<f32, Batch, Hidden>>);
  CHECK(numbers(x) == doubles(6));
  CHECK(zeros<f32, Batch, Hidden, Seq>(Seq{4}, Batch{2}).shape() ==
        shape<Batch, Hidden, Seq>{{2, 3, 4}});
  CHECK(numbers(ones<f32, Hidden>()) == doubles{1, 1, 1});
  CHECK(numbers(full<f32, Batch>(2.5, Batch{2})) == doubles{2.5, 2.5});
  CHECK(full<f32>(3).item() == 3);
  CHECK(zeros<f32, None>().shape() == shape<None>{{0}});
  CHECK(zeros<f32, Batch>(Batch{std::size_t{3}}).shape() == shape<Batch>{{3}});
  CHECK(zeros<f32, Batch>(Batch{std::uint8_t{3}}).shape() == shape<Batch>{{3}});
}

TEST_CASE("every dtype") {
  for_each_dtype([]<class T>() {
    CHECK(numbers(zeros<T, Hidden>()) == doubles{0, 0, 0});
    CHECK(numbers(ones<T, Hidden>()) == doubles{1, 1, 1});
    CHECK(numbers(full<T, Hidden>(1)) == doubles{1, 1, 1});
    CHECK(numbers(full<T, Hidden>(true)) == doubles{1, 1, 1});
    CHECK(numbers(full<T, Hidden>(static_cast<T>(1))) == doubles{1, 1, 1});
    CHECK(numbers(from<T, Hidden>({T(0), T(1), T(0)})) == doubles{0, 1, 0});
    CHECK(numbers(full<T>(1)) == doubles{1});
  });
  CHECK(numbers(full<i64, Hidden>(std::numeric_limits<i64>::max()))[0] == std::ldexp(1, 63));
  CHECK(full<i64>(std::numeric_limits<i64>::max()).item() == std::numeric_limits<i64>::max());
  CHECK(full<i64>(std::numeric_limits<i64>::min()).item() == std::numeric_limits<i64>::min());
  CHECK(std::isnan(full<f32>(not_a_number).item()));
  CHECK(full<f32>(-infinity).item() == -infinity);
  CHECK(std::isnan(numbers(full<f8_e4m3>(1e9))[0]));
  CHECK(full<boolean>(true).item());
  // A value is that of its dtype, whether it has been stored or fuses.
  CHECK(numbers(full<bf16>(0.1) == 0.1) == doubles{1});
  CHECK(numbers(to<f32>(full<bf16, Hidden>(0.1)))[0] ==
        static_cast<double>(static_cast<float>(bf16(0.1))));
}

TEST_CASE("a number that an integer dtype does not hold") {
  CHECK(has(sentence<value_error>([] { (void)full<i8, Hidden>(300); }), {"full", "300", "i8"}));
  CHECK(has(sentence<value_error>([] { (void)full<u8, Hidden>(-1); }), {"full", "-1", "u8"}));
  CHECK(
      has(sentence<value_error>([] { (void)full<u16, Hidden>(65536); }), {"full", "65536", "u16"}));
  CHECK(has(sentence<value_error>([] { (void)full<i64>(~std::uint64_t{0}); }),
            {"full", "18446744073709551615", "i64"}));
  CHECK(full<i8>(-128).item() == -128);
  CHECK(full<u16>(65535).item() == 65535);
}

TEST_CASE("from copies the elements of a span in row-major order") {
  std::vector<f32> values{1, 2, 3, 4, 5, 6};
  tensor x = from<f32, Batch, Hidden>(std::span<f32 const>(values), Batch{2});
  values[0] = 100;
  CHECK(numbers(x) == doubles{1, 2, 3, 4, 5, 6});
  CHECK(numbers(from<f32, Batch, Hidden>(std::span(values), Batch{2}))[0] == 100);
  CHECK(numbers(from<f32, Batch, Hidden>(values, Batch{2}))[1] == 2);
  CHECK(x(Batch{1}, Hidden{0}) == 4);
  CHECK(from<f32>({7}).item() == 7);
  CHECK(numbers(from<f32, Batch>(std::span<f32 const>(), Batch{0})).empty());
  CHECK(
      has(sentence([&] { (void)from<f32, Batch, Hidden>(std::span<f32 const>(values), Batch{3}); }),
          {"from", "6", "[batch 3, hidden 3]", "9"}));
  CHECK_THROWS_AS((void)(from<f32, Hidden>({1, 2})), shape_error);
  CHECK_THROWS_AS((void)(from<f32, Batch>({}, Batch{-1})), shape_error);
  CHECK_THROWS_AS((void)(from<f32, Batch, Seq>({}, Batch{-1}, Seq{0})), shape_error);
}

TEST_CASE("extents that cannot be") {
  for (auto const& said : {sentence([] { (void)zeros<f32, Batch>(Batch{-1}); }),
                           sentence([] { (void)ones<f32, Batch>(Batch{-1}); }),
                           sentence([] { (void)full<f32, Batch>(1, Batch{-1}); }),
                           sentence([] { (void)iota<i32, Batch>(Batch{-1}); }), sentence([] {
                             (void)random::normal<f32, Batch>(random::key(1), Batch{-1});
                           })})
    CHECK(has(said, {"`batch`", "-1"}));
  std::int64_t const huge = std::int64_t{1} << 40;
  CHECK(has(sentence([&] { (void)zeros<f32, Batch, Seq>(Batch{huge}, Seq{huge}); }), {"63 bits"}));
  CHECK_THROWS_AS((void)(zeros<f32, Batch>(Batch{std::int64_t{1} << 62})), shape_error);
  // Elements fit, bytes do not; a zero elsewhere is no excuse.
  CHECK_THROWS_AS((void)(from<f64, Batch, Seq>({}, Batch{std::int64_t{1} << 61}, Seq{0})),
                  shape_error);
}

TEST_CASE("more memory than there is") {
  std::int64_t const petabyte = std::int64_t{1} << 50;
  CHECK_THROWS_AS((void)numbers(zeros<u8, Batch>(Batch{petabyte * 16})), error);
}

TEST_CASE("iota counts, of every dtype that counts") {
  auto e = iota<i32, Seq>(Seq{4});
  CHECK(list(e) == std::vector<i32>{0, 1, 2, 3});
  CHECK(numbers(iota<i64, Hidden>()) == doubles{0, 1, 2});
  CHECK(numbers(iota<f32, Hidden>()) == doubles{0, 1, 2});
  CHECK(numbers(iota<bf16, Seq>(Seq{4})) == doubles{0, 1, 2, 3});
  CHECK(numbers(iota<u8, Seq>(Seq{256}))[255] == 255);
  CHECK(numbers(iota<i32, Seq>(Seq{0})).empty());
  // It fuses.
  tally const ran;
  tensor mask = iota<i32, Seq>(Seq{3}) >= rename<Seq, Batch>(iota<i32, Seq>(Seq{3})) * 0 +
                                              broadcast<Batch>(iota<i32, Seq>(Seq{3}), Batch{3});
  CHECK(mask.shape() == shape<Batch, Seq>{{3, 3}});
  CHECK(ran.copies() == 0);
}

TEST_CASE("extent_of") {
  tensor x = zeros<f32, Batch, Hidden>(Batch{2});
  CHECK(extent_of<Batch>(x) == 2);
  CHECK(extent_of<Hidden>(x) == 3);
  auto e = x + 1;
  CHECK(extent_of<Batch>(e) == 2);  // asks, evaluates nothing
  static_assert(same<decltype(extent_of<Batch>(x)), std::int64_t>);
  static_assert(Hidden::static_extent == 3 && Batch::static_extent == dynamic_extent);
}
