// nn::linear: any tensor that has In, packs of axes, primes, initialization.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Width : axis<"width", 6> {};
struct Out : axis<"out", 5> {};
struct Heads : axis<"heads", 2> {};
struct HeadDim : axis<"head_dim", 3> {};
struct Three : axis<"three", 3> {};
struct Dyn : axis<"dyn"> {};

}  // namespace

TEST_CASE("Out stands in the place of In, whatever else there is") {
  nn::linear<f64, Width, Out> map;
  initialize(map, random::key(1));
  static_assert(same<decltype(map.weight), tensor<f64, Width, Out>> &&
                same<decltype(map.bias), tensor<f64, Out>>);
  tensor x = random::normal<f64, Batch, Width, Seq>(random::key(2), Batch{2}, Seq{3});
  tensor y = map(x);
  static_assert(same<decltype(y), tensor<f64, Batch, Out, Seq>>);
  for (int o = 0; o < 5; ++o) {
    double expected = map.bias(Out{o});
    for (int w = 0; w < 6; ++w)
      expected += x(Batch{1}, Width{w}, Seq{2}) * map.weight(Width{w}, Out{o});
    CHECK(y(Batch{1}, Out{o}, Seq{2}) == doctest::Approx(expected));
  }
  static_assert(same<decltype(tensor(map(at<Seq>(at<Batch>(x, 0), 0)))), tensor<f64, Out>>);
  static_assert(same<decltype(tensor(map(x * 2))), tensor<f64, Batch, Out, Seq>>);
}

TEST_CASE("from an axis to itself") {
  nn::linear<f64, Width, Width> map;
  initialize(map, random::key(1));
  static_assert(same<decltype(map.weight), tensor<f64, Width, prime<Width>>>);
  static_assert(same<decltype(map.bias), tensor<f64, Width>>);
  tensor x = random::normal<f64, Seq, Width, Batch>(random::key(2), Seq{2}, Batch{3});
  tensor y = map(map(x));
  static_assert(same<decltype(y), tensor<f64, Seq, Width, Batch>>);
  tensor once =
      einsum<"seq width batch, width width' -> seq width=width' batch">(x, map.weight) + map.bias;
  tensor twice =
      einsum<"seq width batch, width width' -> seq width=width' batch">(once, map.weight) +
      map.bias;
  for (std::size_t i = 0; i < 36; ++i) CHECK(numbers(y)[i] == doctest::Approx(numbers(twice)[i]));
}

TEST_CASE("several axes in, several out") {
  nn::linear<f64, Width, pack<Three, Heads, HeadDim>> split;
  nn::linear<f64, pack<Heads, HeadDim>, Width> merge;
  initialize(split, random::key(1));
  initialize(merge, random::key(2));
  static_assert(same<decltype(split.weight), tensor<f64, Width, Three, Heads, HeadDim>>);
  static_assert(same<decltype(merge.bias), tensor<f64, Width>>);
  tensor x = random::normal<f64, Batch, Width, Seq>(random::key(2), Batch{2}, Seq{3});
  tensor h = split(x);
  static_assert(same<decltype(h), tensor<f64, Batch, Three, Heads, HeadDim, Seq>>);
  tensor by_hand =
      einsum<"... width, width three heads head_dim -> batch three heads head_dim seq">(
          x, split.weight) +
      split.bias;
  CHECK(numbers(h)[17] == doctest::Approx(numbers(by_hand)[17]));
  tensor y = merge(at<Three>(h, 1));
  static_assert(same<decltype(y), tensor<f64, Batch, Width, Seq>>);
  tensor merged = einsum<"batch heads head_dim seq, heads head_dim width -> batch width seq">(
                      at<Three>(h, 1), merge.weight) +
                  merge.bias;
  for (std::size_t i = 0; i < numbers(y).size(); ++i)
    CHECK(numbers(y)[i] == doctest::Approx(numbers(merged)[i]));
  // In's axes stand apart and in another order: Out stands where the first of In's list stood.
  tensor apart = merge(permute<HeadDim, Batch, Heads>(at<Seq>(at<Three>(h, 1), 0)));
  static_assert(same<decltype(apart), tensor<f64, Batch, Width>>);
  CHECK(numbers(apart)[0] == doctest::Approx(y(Batch{0}, Width{0}, Seq{0})));
}

TEST_CASE("some axes of In are axes of Out") {
  nn::linear<f64, pack<Heads, HeadDim>, pack<HeadDim, Out>> map;
  initialize(map, random::key(1));
  static_assert(same<decltype(map.weight), tensor<f64, Heads, HeadDim, prime<HeadDim>, Out>>);
  static_assert(same<decltype(map.bias), tensor<f64, HeadDim, Out>>);
  tensor x = random::normal<f64, Batch, Heads, HeadDim>(random::key(2), Batch{2});
  tensor y = map(x);
  static_assert(same<decltype(y), tensor<f64, Batch, HeadDim, Out>>);
  double expected = map.bias(HeadDim{1}, Out{2});
  for (int h = 0; h < 2; ++h)
    for (int d = 0; d < 3; ++d)
      expected += x(Batch{1}, Heads{h}, HeadDim{d}) *
                  map.weight(Heads{h}, HeadDim{d}, prime<HeadDim>{1}, Out{2});
  CHECK(y(Batch{1}, HeadDim{1}, Out{2}) == doctest::Approx(expected));
}

TEST_CASE("initialize: uniform within 1 / sqrt(inputs), dynamic extents by value") {
  nn::linear<f32, Dyn, Out> map;
  CHECK(has(sentence<value_error>([&] { initialize(map, random::key(1)); }),
            {"initialize", "`dyn`"}));
  initialize(map, random::key(1), Dyn{10000});
  CHECK(map.weight.shape() == shape<Dyn, Out>{{10000, 5}});
  double const bound = 1 / std::sqrt(10000.0);
  double squares = 0;
  double largest = 0;
  for (double const v : numbers(map.weight)) {
    squares += v * v / 50000;
    largest = std::max(largest, std::abs(v));
  }
  CHECK(largest <= bound);
  CHECK(largest > 0.999 * bound);
  CHECK(std::sqrt(squares) == doctest::Approx(bound / std::sqrt(3)).epsilon(0.02));
  // Extents that are there already are kept.
  initialize(map, random::key(2));
  CHECK(map.weight.shape() == shape<Dyn, Out>{{10000, 5}});
  CHECK_THROWS_AS(initialize(map, random::key(1), Dyn{-1}), shape_error);
  nn::linear<f32, Dyn, Dyn> square_map;
  initialize(square_map, random::key(1), Dyn{7});
  CHECK(square_map.weight.shape() == shape<Dyn, prime<Dyn>>{{7, 7}});
  CHECK(square_map.bias.shape() == shape<Dyn>{{7}});
}

TEST_CASE("one gemm with its bias and the activation that follows") {
  nn::linear<f32, Width, Out> map;
  initialize(map, random::key(1));
  tensor x = random::normal<f32, Batch, Width>(random::key(2), Batch{512});
  tally const ran;
  tensor y = gelu(map(x));
  CHECK(ran.passes() == 1);
  CHECK(ran.contractions() == 1);
}

TEST_CASE("an empty module says so") {
  nn::linear<f32, Width, Out> map;
  CHECK(has(sentence<value_error>([&] { (void)map(zeros<f32, Width>()); }), {"empty"}));
}
