// The ways to fill a parameter: moments against their formulas.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct In : axis<"in", 300> {};
struct Out : axis<"out", 500> {};
struct Dyn : axis<"dyn"> {};

struct moments {
  double mean = 0, deviation = 0, largest = 0;
  explicit moments(doubles const& v) {
    for (double const x : v) {
      mean += x / static_cast<double>(v.size());
      largest = std::max(largest, std::abs(x));
    }
    for (double const x : v) deviation += (x - mean) * (x - mean) / static_cast<double>(v.size());
    deviation = std::sqrt(deviation);
  }
};

struct Plain {
  using matrix = tensor<f32, In, Out>;
  using vector = tensor<f32, Out>;
  using scalar = tensor<f32>;
  BOOST_HANA_DEFINE_STRUCT(Plain, (matrix, w), (vector, b), (scalar, s));
};
struct Own {
  using vector = tensor<f32, Out>;
  BOOST_HANA_DEFINE_STRUCT(Own, (vector, b));
  void initialize(random::key) { init::constant(b, 3); }
};
struct Both {
  BOOST_HANA_DEFINE_STRUCT(Both, (Plain, plain), (Own, own));
};

}  // namespace

TEST_CASE("moments of every filling") {
  random::key const key(1);
  tensor<f32, In, Out> w;
  init::normal(w, key, 0.5);
  CHECK(moments(numbers(w)).deviation == doctest::Approx(0.5).epsilon(0.01));
  CHECK(std::abs(moments(numbers(w)).mean) < 0.01);
  init::truncated_normal(w, key, 0.5);
  CHECK(moments(numbers(w)).largest <= 1);
  CHECK(moments(numbers(w)).deviation == doctest::Approx(0.5 * 0.8796).epsilon(0.01));
  init::uniform(w, key, -2, 1);
  CHECK(moments(numbers(w)).mean == doctest::Approx(-0.5).epsilon(0.02));
  CHECK(moments(numbers(w)).deviation == doctest::Approx(3 / std::sqrt(12)).epsilon(0.01));
  init::xavier_uniform(w, key);
  CHECK(moments(numbers(w)).deviation == doctest::Approx(std::sqrt(2.0 / 800)).epsilon(0.01));
  CHECK(moments(numbers(w)).largest <= std::sqrt(6.0 / 800));
  init::xavier_normal(w, key);
  CHECK(moments(numbers(w)).deviation == doctest::Approx(std::sqrt(2.0 / 800)).epsilon(0.01));
  init::kaiming_uniform(w, key);
  CHECK(moments(numbers(w)).deviation == doctest::Approx(std::sqrt(2.0 / 300)).epsilon(0.01));
  init::kaiming_normal(w, key);
  CHECK(moments(numbers(w)).deviation == doctest::Approx(std::sqrt(2.0 / 300)).epsilon(0.01));
  init::ones(w);
  CHECK(numbers(w) == doubles(150000, 1));
  init::zeros(w);
  CHECK(moments(numbers(w)).largest == 0);
}

TEST_CASE(
    "without a rule of its own: matrices normal of 0.02, vectors and scalars zero; with one, "
    "that") {
  Both m;
  initialize(m, random::key(5));
  CHECK(moments(numbers(m.plain.w)).deviation == doctest::Approx(0.02).epsilon(0.01));
  CHECK(moments(numbers(m.plain.b)).largest == 0);
  CHECK(m.plain.s.item() == 0);
  CHECK(numbers(m.own.b) == doubles(500, 3));
}

TEST_CASE("narrow dtypes and dynamic extents") {
  tensor<bf16, Dyn, Out> w;
  CHECK_THROWS_AS(init::normal(w, random::key(1), 1), value_error);
  w = zeros<bf16, Dyn, Out>(Dyn{40});
  init::normal(w, random::key(1), 1);
  CHECK(moments(numbers(w)).deviation == doctest::Approx(1).epsilon(0.02));
  CHECK(w.shape() == shape<Dyn, Out>{{40, 500}});
}
