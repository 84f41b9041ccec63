#include "kernels/reduce/reduce.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <ricci/error/exceptions.hpp>

#include "kernels/parallel/parallel.hpp"
#include "tests/unit/kernels/random_view.hpp"
#include "tests/unit/kernels/same_bytes.hpp"

namespace k = ricci::kernels;
using namespace ricci;
using k::reduction;
using ricci::test::extents_list;
using ricci::test::random_view;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// The elements that each result sees, in row-major order of the reduced axes.
template <class View>
std::vector<std::vector<double>> groups_of(View const& x, std::uint32_t reduced) {
  std::int64_t size = 1, results = 1;
  for (std::size_t a = 0; a < x.extents.size(); ++a) {
    size *= x.extents[a];
    if (!(reduced >> a & 1)) results *= x.extents[a];
  }
  std::vector<std::vector<double>> groups(static_cast<std::size_t>(results));
  extents_list place(x.extents.size());
  for (std::int64_t i = 0; i < size; ++i) {
    std::int64_t rest = i, result = 0;
    for (std::size_t a = place.size(); a-- > 0;)
      place[a] = rest % x.extents[a], rest /= x.extents[a];
    for (std::size_t a = 0; a < place.size(); ++a)
      if (!(reduced >> a & 1)) result = result * x.extents[a] + place[a];
    groups[static_cast<std::size_t>(result)].push_back(x.at(place));
  }
  return groups;
}

double reference(reduction op, std::vector<double> const& x) {
  double sum = 0, prod = 1, exps = 0;
  for (double const v : x) sum += v, prod *= v, exps += std::exp(v);
  auto const largest = std::max_element(x.begin(), x.end());
  auto const smallest = std::min_element(x.begin(), x.end());
  switch (op) {
    case reduction::sum:
      return sum;
    case reduction::mean:
      return sum / static_cast<double>(x.size());
    case reduction::prod:
      return prod;
    case reduction::max:
      return *largest;
    case reduction::min:
      return *smallest;
    case reduction::argmax:
      return static_cast<double>(largest - x.begin());
    case reduction::argmin:
      return static_cast<double>(smallest - x.begin());
    default:
      return std::log(exps);
  }
}

template <class T>
void check_random(std::initializer_list<reduction> ops, double tolerance, unsigned seed) {
  std::mt19937 random(seed);
  for (int trial = 0; trial < 120; ++trial) {
    static constexpr std::int64_t choices[] = {1, 2, 3, 5, 17, 40, 150, 300, 700, 1100};
    extents_list extents(random() % 5);
    std::int64_t size = 1;
    for (auto& e : extents) {
      do e = choices[random() % 10];
      while (size * e > 5000);
      size *= e;
    }
    random_view<T> const x(random, extents, trial % 3 == 0);
    auto const reduced = static_cast<std::uint32_t>(random() & ((1u << extents.size()) - 1));
    auto const groups = groups_of(x, reduced);
    for (auto const op : ops) {
      std::vector<double> out(groups.size(), -1e30);
      k::reduce(op, x.view(), reduced, out.data(), dtype::f64);
      for (std::size_t i = 0; i < groups.size(); ++i) {
        double const expected = reference(op, groups[i]);
        INFO(k::name_of(op) << " trial " << trial << " result " << i << " of " << groups.size());
        if (std::fabs(expected) < 1e15 || op != reduction::prod)
          CHECK(std::fabs(out[i] - expected) <= tolerance * (1 + std::fabs(expected)));
      }
    }
  }
}

struct with_threads {
  explicit with_threads(int n) : before(k::threads()) { k::set_threads(n); }
  ~with_threads() { k::set_threads(before); }
  int before;
};

template <class T> T all_of(reduction op, std::vector<float> const& x) {
  auto const n = static_cast<std::int64_t>(x.size());
  std::int64_t const one = 1;
  T out{};
  k::reduce(op, {x.data(), dtype::f32, 1, &n, &one}, 1, &out, dtype_of<T>);
  return out;
}

}  // namespace

TEST_CASE("every reduction, over any axes of any view") {
  auto const all = {reduction::sum, reduction::mean,   reduction::prod,  reduction::max,
                    reduction::min, reduction::argmax, reduction::argmin};
  check_random<float>(all, 1e-6, 1);
  check_random<double>(all, 1e-13, 2);
  check_random<float>({reduction::logsumexp}, 1e-6, 3);
  check_random<double>({reduction::logsumexp}, 1e-13, 4);
  check_random<bf16>({reduction::sum, reduction::max, reduction::argmax}, 1e-6, 5);
  check_random<f16>({reduction::sum, reduction::logsumexp}, 1e-6, 6);
}

TEST_CASE("integers") {
  auto const ops = {reduction::sum, reduction::mean,   reduction::max,
                    reduction::min, reduction::argmax, reduction::argmin};
  check_random<i64>(ops, 1e-15, 7);
  check_random<i32>(ops, 1e-15, 8);
  check_random<i16>(ops, 1e-15, 9);
  check_random<i8>(ops, 1e-15, 10);
  check_random<u16>(ops, 1e-15, 11);
  check_random<u8>(ops, 1e-15, 12);
  // i64 beyond 2^53, and narrow types beyond their own range
  std::int64_t const n = 3, one = 1;
  i64 const large[] = {std::int64_t{1} << 62, 1, 2};
  i64 sum = 0;
  k::reduce(reduction::sum, {large, dtype::i64, 1, &n, &one}, 1, &sum, dtype::i64);
  CHECK(sum == (std::int64_t{1} << 62) + 3);
  u8 const bytes[] = {255, 255, 255};
  k::reduce(reduction::sum, {bytes, dtype::u8, 1, &n, &one}, 1, &sum, dtype::i64);
  CHECK(sum == 765);
}

TEST_CASE("booleans: any, all, and how many") {
  std::int64_t const extents[] = {3, 400}, strides[] = {400, 1};
  std::vector<u8> x(1200, 0);
  std::fill_n(x.begin() + 400, 400, u8{1});
  x[1000] = 1;
  bool any[3], all[3], any_column[400];
  i64 count[3];
  k::strided_view const view{x.data(), dtype::boolean, 2, extents, strides};
  k::reduce(reduction::any, view, 2, any, dtype::boolean);
  k::reduce(reduction::all, view, 2, all, dtype::boolean);
  k::reduce(reduction::sum, view, 2, count, dtype::i64);
  k::reduce(reduction::all, view, 1, any_column, dtype::boolean);
  CHECK((!any[0] && any[1] && any[2]));
  CHECK((!all[0] && all[1] && !all[2]));
  CHECK((count[0] == 0 && count[1] == 400 && count[2] == 1));
  CHECK(std::none_of(any_column, any_column + 400, [](bool b) { return b; }));
}

TEST_CASE("a sum of 16 million f32 has a relative error below 1e-6") {
  std::int64_t const n = 1 << 24, one = 1;
  std::vector<float> x(n, 0.1f);
  float total = 0;
  k::reduce(reduction::sum, {x.data(), dtype::f32, 1, &n, &one}, 1, &total, dtype::f32);
  double const expected = static_cast<double>(0.1f) * n;
  CHECK(std::fabs(total - expected) < 1e-6 * expected);
  // the same numbers as columns
  std::int64_t const extents[] = {n / 4, 4}, strides[] = {4, 1};
  float columns[4];
  k::reduce(reduction::sum, {x.data(), dtype::f32, 2, extents, strides}, 1, columns, dtype::f32);
  for (float const c : columns) CHECK(std::fabs(c - expected / 4) < 1e-6 * expected / 4);
}

TEST_CASE("the bits do not depend on the number of threads") {
  std::mt19937 random(3);
  for (extents_list const& extents :
       {extents_list{300001}, {3, 140000}, {140000, 3}, {600, 600}, {70, 40, 100}}) {
    random_view<float> x(random, extents, true);
    for (auto& v : x.numbers) v = std::sin(v) * static_cast<float>(random() % 1000);
    for (std::uint32_t reduced = 1; reduced < 1u << extents.size(); ++reduced)
      for (auto const op : {reduction::sum, reduction::logsumexp, reduction::argmax}) {
        std::vector<double> first(groups_of(x, reduced).size()), again(first.size());
        {
          with_threads const scope(1);
          k::reduce(op, x.view(), reduced, first.data(), dtype::f64);
        }
        for (int const threads : {2, 3}) {
          with_threads const scope(threads);
          k::reduce(op, x.view(), reduced, again.data(), dtype::f64);
          CHECK(same_bytes(first.data(), again.data(), first.size() * sizeof(double)));
        }
        auto const groups = groups_of(x, reduced);
        if (op != reduction::logsumexp)
          for (std::size_t i = 0; i < groups.size(); i += 97)
            CHECK(first[i] == doctest::Approx(reference(op, groups[i])).epsilon(1e-5));
      }
  }
}

TEST_CASE("NaN and infinities") {
  for (std::size_t const n : {3u, 20u, 90u, 1500u}) {
    std::vector<float> x(n, 1.0f);
    x[1] = not_a_number;
    x[2] = infinity;
    CHECK(std::isnan(all_of<float>(reduction::max, x)));
    CHECK(std::isnan(all_of<float>(reduction::min, x)));
    CHECK(std::isnan(all_of<float>(reduction::logsumexp, x)));
    CHECK(std::isnan(all_of<float>(reduction::sum, x)));
    CHECK(all_of<i64>(reduction::argmax, x) == 1);
    CHECK(all_of<i64>(reduction::argmin, x) == 1);
    x[1] = 1;
    CHECK(all_of<float>(reduction::logsumexp, x) == infinity);
    CHECK(all_of<i64>(reduction::argmax, x) == 2);
    CHECK(all_of<i64>(reduction::argmin, x) == 0);
    x[n - 1] = not_a_number;
    CHECK(all_of<i64>(reduction::argmin, x) == static_cast<i64>(n - 1));
    std::fill(x.begin(), x.end(), -infinity);
    CHECK(all_of<float>(reduction::logsumexp, x) == -infinity);
    CHECK(all_of<float>(reduction::max, x) == -infinity);
    CHECK(all_of<i64>(reduction::argmax, x) == 0);
    x[n / 2] = 700;
    CHECK(all_of<float>(reduction::logsumexp, x) == 700);
    std::fill(x.begin(), x.end(), 3e38f);
    CHECK(all_of<float>(reduction::logsumexp, x) == 3e38f);
  }
}

TEST_CASE("logsumexp and argmax of columns with infinities") {
  std::int64_t const extents[] = {40, 300}, strides[] = {300, 1};
  std::vector<float> x(40 * 300, -infinity);
  for (std::size_t r = 0; r < 40; ++r) {
    x[300 * r + 1] = static_cast<float>(r % 7);
    x[300 * r + 2] = r == 5 ? infinity : 0.0f;
    x[300 * r + 3] = r == 6 ? not_a_number : 0.0f;
  }
  std::vector<float> out(300);
  std::vector<i64> at(300);
  k::strided_view const view{x.data(), dtype::f32, 2, extents, strides};
  k::reduce(reduction::logsumexp, view, 1, out.data(), dtype::f32);
  k::reduce(reduction::argmax, view, 1, at.data(), dtype::i64);
  CHECK(out[0] == -infinity);
  CHECK(out[299] == -infinity);
  double sum = 0;
  for (int r = 0; r < 40; ++r) sum += std::exp(r % 7);
  CHECK(out[1] == doctest::Approx(std::log(sum)));
  CHECK(out[2] == infinity);
  CHECK(std::isnan(out[3]));
  CHECK((at[0] == 0 && at[1] == 6 && at[2] == 5 && at[3] == 6));
}

TEST_CASE("a product does not overflow on the way in f32") {
  std::vector<float> x;
  for (int i = 0; i < 100; ++i) x.push_back(i % 2 ? 1e30f : 1e-30f);
  CHECK(all_of<float>(reduction::prod, x) == doctest::Approx(1.0));
}

TEST_CASE("nothing reduced") {
  std::int64_t const extents[] = {2, 0}, strides[] = {0, 1};
  k::strided_view const view{nullptr, dtype::f32, 2, extents, strides};
  float out[2] = {9, 9};
  k::reduce(reduction::sum, view, 2, out, dtype::f32);
  CHECK((out[0] == 0 && out[1] == 0));
  k::reduce(reduction::prod, view, 2, out, dtype::f32);
  CHECK((out[0] == 1 && out[1] == 1));
  k::reduce(reduction::logsumexp, view, 2, out, dtype::f32);
  CHECK((out[0] == -infinity && out[1] == -infinity));
  k::reduce(reduction::mean, view, 2, out, dtype::f32);
  CHECK(std::isnan(out[0]));
  k::strided_view const flags{nullptr, dtype::boolean, 2, extents, strides};
  bool truth[2];
  k::reduce(reduction::any, flags, 2, truth, dtype::boolean);
  CHECK((!truth[0] && !truth[1]));
  k::reduce(reduction::all, flags, 2, truth, dtype::boolean);
  CHECK((truth[0] && truth[1]));
  for (auto const op : {reduction::max, reduction::min, reduction::argmax, reduction::argmin})
    CHECK_THROWS_AS(k::reduce(op, view, 2, out, dtype::f32), ricci::value_error);
  i32 whole[2];
  CHECK_THROWS_AS(k::reduce(reduction::mean, view, 2, whole, dtype::i32), ricci::value_error);
  k::reduce(reduction::max, view, 1, out, dtype::f32);  // no results: nothing to do
}

TEST_CASE("a program's values are reduced without being stored") {
  // sum over axis 1 of (x - y)^2 * (1 + index along axis 2)
  std::int64_t const extents[] = {5, 30, 40}, x_strides[] = {1200, 40, 1}, y_strides[] = {0, 1, 0};
  std::vector<float> x(6000), y(30);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) / 4;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i) / 8;
  using source = k::pointwise_value;
  k::pointwise_operand const operands[] = {{x.data(), dtype::f32, x_strides},
                                           {y.data(), dtype::f32, y_strides}};
  k::pointwise_constant const constants[] = {{dtype::f32, 1, 0}};
  k::pointwise_instruction const instructions[] = {
      {opcode::subtract, dtype::f32, 0, {source::operand(0), source::operand(1)}},
      {opcode::square, dtype::f32, 0, {source::instruction(0)}},
      {opcode::index, dtype::i32, 2, {}},
      {opcode::convert, dtype::f32, 0, {source::instruction(2)}},
      {opcode::add, dtype::f32, 0, {source::instruction(3), source::constant(0)}},
      {opcode::multiply, dtype::f32, 0, {source::instruction(1), source::instruction(4)}}};
  k::pointwise_output const value{source::instruction(5), dtype::f32, nullptr};
  k::pointwise_program const program{3, extents, operands, constants, instructions, {&value, 1}};
  for (std::uint32_t reduced = 0; reduced < 8; ++reduced) {
    std::vector<double> expected(6000, 0), out(6000);
    std::size_t results = 1;
    for (int a = 0; a < 3; ++a)
      results *= reduced >> a & 1 ? 1 : static_cast<std::size_t>(extents[a]);
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < 30; ++j)
        for (std::size_t l = 0; l < 40; ++l) {
          std::size_t at = 0;
          if (!(reduced & 1)) at = at * 5 + i;
          if (!(reduced & 2)) at = at * 30 + j;
          if (!(reduced & 4)) at = at * 40 + l;
          double const d = x[i * 1200 + j * 40 + l] - y[j];
          expected[at] += d * d * static_cast<double>(1 + l);
        }
    k::reduce(reduction::sum, program, reduced, out.data(), dtype::f64);
    for (std::size_t i = 0; i < results; ++i)
      CHECK(out[i] == doctest::Approx(expected[i]).epsilon(1e-6));
  }
  k::pointwise_output const one{source::constant(0), dtype::f32, nullptr};
  double ones = 0;
  k::reduce(reduction::sum, k::pointwise_program{3, extents, {}, constants, {}, {&one, 1}}, 7,
            &ones, dtype::f64);
  CHECK(ones == 6000);
}

TEST_CASE("a reduction of the user's") {
  // the element of the largest magnitude
  auto const farthest = [](void* accumulators, void const* elements, std::int64_t count) {
    auto* const a = static_cast<float*>(accumulators);
    auto const* const x = static_cast<float const*>(elements);
    for (std::int64_t i = 0; i < count; ++i)
      if (std::fabs(x[i]) > std::fabs(a[i])) a[i] = x[i];
  };
  float const zero = 0;
  k::user_reduction const user{&zero, farthest};
  for (std::int64_t const n : {1, 2, 5, 700, 3000}) {
    std::int64_t const extents[] = {7, n}, strides[] = {1, 7};
    std::vector<float> x(static_cast<std::size_t>(7 * n)), out(7);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(static_cast<int>(i * 7919 % 1000) - 600);
    k::reduce(reduction::user, {x.data(), dtype::f32, 2, extents, strides}, 2, out.data(),
              dtype::f32, &user);
    for (std::size_t r = 0; r < 7; ++r) {
      float expected = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        if (std::fabs(x[7 * i + r]) > std::fabs(expected)) expected = x[7 * i + r];
      CHECK(std::fabs(out[r]) == std::fabs(expected));
    }
  }
  float out = 0;
  CHECK_THROWS_AS(
      k::reduce(reduction::user, {&zero, dtype::f32, 0, nullptr, nullptr}, 0, &out, dtype::f32),
      ricci::value_error);
}

TEST_CASE("bad reductions are refused with a sentence") {
  std::int64_t const n = 2, one = 1, negative = -1;
  float x[2] = {1, 2}, out[2];
  i32 whole[2] = {1, 2};
  k::strided_view const view{x, dtype::f32, 1, &n, &one};
  CHECK_THROWS_WITH_AS(k::reduce(reduction::any, view, 1, out, dtype::boolean),
                       "reduce: any is not defined on f32.", ricci::value_error);
  CHECK_THROWS_AS(
      k::reduce(reduction::logsumexp, {whole, dtype::i32, 1, &n, &one}, 1, out, dtype::f32),
      ricci::value_error);
  CHECK_THROWS_AS(k::reduce(reduction::sum, view, 2, out, dtype::f32), ricci::value_error);
  CHECK_THROWS_AS(
      k::reduce(reduction::sum, {x, dtype::f32, 1, &negative, &one}, 1, out, dtype::f32),
      ricci::shape_error);
}
