#include "kernels/cross_entropy/cross_entropy.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <ricci/error/exceptions.hpp>
#include <string>
#include <vector>

#include "kernels/parallel/parallel.hpp"
#include "tests/unit/kernels/same_bytes.hpp"

namespace k = ricci::kernels;
using ricci::bf16;
using ricci::dtype;
using ricci::f16;
using std::int64_t;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Values in [-4, 4) that repeat only after 2^32: Knuth's multiplier, TAOCP 2, 3.3.4.
template <class T> std::vector<T> values(int64_t count, int64_t seed) {
  std::vector<T> x(static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    auto const bits =
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed + i) * 2654435761u);
    x[i] = static_cast<T>(4.0f * (static_cast<float>(bits >> 8) / (1 << 23) - 1.0f));
  }
  return x;
}

template <class T> double wide(T value) { return static_cast<double>(value); }

// Relative to 1 + |want|: the rounding of the result, and the sums in f32.
template <class T> constexpr double tolerance = 1e-14;
template <> constexpr double tolerance<float> = 1e-6;
template <> constexpr double tolerance<bf16> = 4e-3;
template <> constexpr double tolerance<f16> = 5e-4;

template <class A>
double largest_error(std::vector<A> const& got, std::vector<double> const& want) {
  REQUIRE(got.size() == want.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const error = std::abs(wide(got[i]) - want[i]) / (1.0 + std::abs(want[i]));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

template <class T, class I>
void check(int64_t outer, int64_t classes, int64_t inner, bool ignoring) {
  using C = ricci::accumulator_t<T>;
  dtype const type = ricci::dtype_of<T>;
  INFO(std::string(ricci::name_of<T>()), " ", outer, " ", classes, " ", inner);
  int64_t const rows = outer * inner;
  auto const x = values<T>(outer * classes * inner, 1);
  auto const dloss = values<T>(rows, 31);
  std::vector<I> targets(static_cast<std::size_t>(rows));
  for (int64_t r = 0; r < rows; ++r) targets[r] = static_cast<I>((r * 7 + 3) % classes);
  k::class_targets const described{ricci::dtype_of<I>, targets.data(), {}};
  k::class_targets given = described;
  if (ignoring) given.ignore = int64_t{3} % classes;  // the target of row 0 and some others
  std::vector<T> loss(targets.size()), dx(x.size(), T(9));
  std::vector<C> lse(targets.size());
  std::vector<double> want_loss(targets.size()), want_lse(targets.size()), want_dx(x.size());
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      int64_t const r = o * inner + i;
      auto const at = [&](int64_t c) { return (o * classes + c) * inner + i; };
      double total = 0;
      for (int64_t c = 0; c < classes; ++c) total += std::exp(wide(x[at(c)]));
      want_lse[r] = std::log(total);
      auto const t = static_cast<int64_t>(targets[r]);
      bool const ignored = ignoring && t == *given.ignore;
      want_loss[r] = ignored ? 0 : want_lse[r] - wide(x[at(t)]);
      for (int64_t c = 0; c < classes; ++c)
        want_dx[at(c)] =
            ignored ? 0 : (std::exp(wide(x[at(c)])) / total - (c == t)) * wide(dloss[r]);
    }
  k::cross_entropy(type, outer, classes, inner, x.data(), given, loss.data(), lse.data());
  CHECK(largest_error(loss, want_loss) <= tolerance<T>);
  CHECK(largest_error(lse, want_lse) <= (sizeof(T) == 8 ? 1e-14 : 1e-6));
  k::cross_entropy_backward(type, outer, classes, inner, x.data(), given, lse.data(), dloss.data(),
                            dx.data());
  CHECK(largest_error(dx, want_dx) <= 3 * tolerance<T>);
  auto in_place = x;
  k::cross_entropy_backward(type, outer, classes, inner, in_place.data(), given, lse.data(),
                            dloss.data(), in_place.data());
  CHECK(same_bytes(in_place.data(), dx.data(), dx.size() * sizeof(T)));
}

std::string message_of(std::vector<int> const& targets, std::optional<int64_t> ignore) {
  std::vector<float> const x(targets.size() * 4);
  std::vector<float> loss(targets.size()), lse(targets.size());
  try {
    k::cross_entropy(dtype::f32, static_cast<int64_t>(targets.size()), 4, 1, x.data(),
                     {dtype::i32, targets.data(), ignore}, loss.data(), lse.data());
  } catch (ricci::index_error const& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("cross_entropy and its gradient follow the definition") {
  for (int64_t const outer : {0, 1, 5})
    for (int64_t const classes : {1, 2, 15, 16, 17, 65, 200})
      for (int64_t const inner : {0, 1, 3, 16, 18})
        for (bool const ignoring : {false, true}) {
          check<float, std::int64_t>(outer, classes, inner, ignoring);
          check<double, std::int32_t>(outer, classes, inner, ignoring);
          check<bf16, std::uint16_t>(outer, classes, inner, ignoring);
          check<f16, std::uint8_t>(outer, classes, inner, ignoring);
        }
  check<float, std::uint16_t>(3, 5003, 1, false);
}

TEST_CASE("cross_entropy backward agrees with central differences") {
  int64_t const outer = 2, classes = 5, inner = 3;
  auto x = values<double>(outer * classes * inner, 5);
  auto const dloss = values<double>(outer * inner, 8);
  std::vector<std::uint8_t> const targets{0, 4, 2, 2, 1, 3};
  k::class_targets const given{dtype::u8, targets.data(), 1};
  std::vector<double> loss(6), lse(6), dx(x.size());
  auto const total = [&] {
    k::cross_entropy(dtype::f64, outer, classes, inner, x.data(), given, loss.data(), lse.data());
    double sum = 0;
    for (int i = 0; i < 6; ++i) sum += loss[i] * dloss[i];
    return sum;
  };
  total();
  k::cross_entropy_backward(dtype::f64, outer, classes, inner, x.data(), given, lse.data(),
                            dloss.data(), dx.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const kept = x[i];
    x[i] = kept + 1e-5;
    double const up = total();
    x[i] = kept - 1e-5;
    double const down = total();
    x[i] = kept;
    CHECK(std::abs((up - down) / 2e-5 - dx[i]) < 1e-8);
  }
}

TEST_CASE("a target outside the classes is named with its row") {
  CHECK(message_of({0, 3, 2}, {}) == "");
  CHECK(message_of({0, 3, 4, 9}, {}) ==
        "cross_entropy: the target of row 2 is 4, and there are 4 classes; a target counts them "
        "from 0.");
  CHECK(message_of({0, -2}, -1) ==
        "cross_entropy: the target of row 1 is -2, and there are 4 classes; a target counts them "
        "from 0, or is the ignored -1.");
  CHECK(message_of({0, -1, 3}, -1) == "");
}

TEST_CASE("logits of -infinity have probability zero") {
  float const low = -std::numeric_limits<float>::infinity();
  // Row 0: the target is impossible; row 1: everything is; row 2: an ordinary row.
  std::vector<float> const x{low, 0, 0, low, low, low, 1, 1, 1};
  std::vector<std::int32_t> const targets{0, 1, 2};
  k::class_targets const given{dtype::i32, targets.data(), {}};
  std::vector<float> loss(3), lse(3), dx(9);
  std::vector<float> const dloss{1, 1, 1};
  k::cross_entropy(dtype::f32, 3, 3, 1, x.data(), given, loss.data(), lse.data());
  CHECK(loss[0] == infinity);
  CHECK(loss[1] == infinity);
  CHECK(lse[1] == -infinity);
  CHECK(loss[2] == doctest::Approx(std::log(3.0)).epsilon(1e-6));
  k::cross_entropy_backward(dtype::f32, 3, 3, 1, x.data(), given, lse.data(), dloss.data(),
                            dx.data());
  std::vector<float> const want{-1, 0.5f, 0.5f, 0, -1, 0, 1.0f / 3, 1.0f / 3, -2.0f / 3};
  for (int i = 0; i < 9; ++i) CHECK(std::abs(dx[i] - want[i]) <= 1e-6f);
}

TEST_CASE("without classes every row must be ignored") {
  std::vector<std::int32_t> const targets{-1, -1};
  std::vector<float> loss(2, 9), lse(2, 9);
  k::cross_entropy(dtype::f32, 2, 0, 1, nullptr, {dtype::i32, targets.data(), -1}, loss.data(),
                   lse.data());
  CHECK(loss[1] == 0);
  CHECK(lse[1] == -infinity);
  CHECK_THROWS_AS(k::cross_entropy(dtype::f32, 2, 0, 1, nullptr, {dtype::i32, targets.data(), {}},
                                   loss.data(), lse.data()),
                  ricci::index_error);
}

TEST_CASE(
    "cross_entropy gives the same bits at 1, 2 and 3 threads, and refuses floats as targets") {
  int const before = k::threads();
  int64_t const rows = 700, classes = 65;
  auto const x = values<float>(rows * classes, 1);
  std::vector<std::uint16_t> const targets(rows, 64);
  std::vector<float> one(rows), loss(rows), lse(rows);
  for (int const count : {1, 2, 3}) {
    k::set_threads(count);
    k::cross_entropy(dtype::f32, rows, classes, 1, x.data(), {dtype::u16, targets.data(), {}},
                     loss.data(), lse.data());
    if (count == 1) one = loss;
    CHECK(same_bytes(one.data(), loss.data(), rows * sizeof(float)));
  }
  k::set_threads(before);
  CHECK_THROWS_AS(k::cross_entropy(dtype::f32, rows, classes, 1, x.data(),
                                   {dtype::f32, x.data(), {}}, loss.data(), lse.data()),
                  ricci::value_error);
}
