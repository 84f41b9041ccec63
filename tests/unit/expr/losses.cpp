// cross_entropy and mse: values against formulas, orders of axes, dtypes, wrong targets.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Vocab : axis<"vocab"> {};

double cross_entropy_of(doubles const& logits, std::size_t target) {
  double top = -infinity;
  for (double const v : logits) top = std::max(top, v);
  double total = 0;
  for (double const v : logits) total += std::exp(v - top);
  return top + std::log(total) - logits[target];
}

}  // namespace

TEST_CASE("cross_entropy against the formula, whatever the order of axes") {
  tensor logits =
      random::normal<f64, Batch, Seq, Vocab>(random::key(1), Batch{2}, Seq{3}, Vocab{11});
  tensor targets = from<i32, Batch, Seq>({0, 10, 5, 3, 3, 9}, Batch{2}, Seq{3});
  tensor each = cross_entropy_each<Vocab>(logits, targets);
  static_assert(same<decltype(each), tensor<f64, Batch, Seq>>);
  double total = 0;
  for (int b = 0; b < 2; ++b)
    for (int s = 0; s < 3; ++s) {
      double const expected = cross_entropy_of(numbers(at<Seq>(at<Batch>(logits, b), s)),
                                               static_cast<std::size_t>(targets(Batch{b}, Seq{s})));
      CHECK(each(Batch{b}, Seq{s}) == doctest::Approx(expected));
      total += expected;
    }
  tensor loss = cross_entropy<Vocab>(logits, targets);
  static_assert(same<decltype(loss), tensor<f64>>);
  CHECK(loss.item() == doctest::Approx(total / 6));
  CHECK(cross_entropy<Vocab>(permute<Vocab, Seq, Batch>(logits), targets).item() ==
        doctest::Approx(total / 6));
  CHECK(cross_entropy<Vocab>(logits, permute<Seq, Batch>(targets)).item() ==
        doctest::Approx(total / 6));
  CHECK(cross_entropy<Vocab>(logits, to<u8>(targets)).item() == doctest::Approx(total / 6));
  CHECK(cross_entropy<Vocab>(logits * 1, targets + 0).item() == doctest::Approx(total / 6));
  // A single place.
  CHECK(cross_entropy<Vocab>(at<Seq>(at<Batch>(logits, 0), 0), full<i64>(0)).item() ==
        doctest::Approx(numbers(each)[0]));
}

TEST_CASE("cross_entropy of narrow floats computes in f32") {
  tensor logits = random::normal<f32, Batch, Vocab>(random::key(2), Batch{4}, Vocab{9});
  tensor targets = from<i64, Batch>({1, 2, 0, 8}, Batch{4});
  CHECK(numbers(cross_entropy_each<Vocab>(to<bf16>(logits), targets)) ==
        numbers(to<bf16>(cross_entropy_each<Vocab>(to<f32>(to<bf16>(logits)), targets))));
  static_assert(
      same<decltype(tensor(cross_entropy<Vocab>(to<f16>(logits), targets))), tensor<f16>>);
}

TEST_CASE("large logits, masked classes") {
  tensor logits =
      from<f32, Batch, Vocab>({1000, 0, -infinity, 2, 3, -infinity}, Batch{2}, Vocab{3});
  auto const each = numbers(cross_entropy_each<Vocab>(logits, from<i32, Batch>({0, 1}, Batch{2})));
  CHECK(each[0] == 0);
  CHECK(each[1] == doctest::Approx(std::log(1 + std::exp(-1.0))));
  CHECK(numbers(cross_entropy_each<Vocab>(logits, from<i32, Batch>({2, 1}, Batch{2})))[0] ==
        infinity);
}

TEST_CASE("targets outside the classes, extents that differ") {
  tensor logits = zeros<f32, Batch, Vocab>(Batch{2}, Vocab{3});
  for (int const wrong : {3, -1, -100})
    CHECK(has(sentence<index_error>([&] {
                (void)cross_entropy<Vocab>(logits, from<i32, Batch>({0, wrong}, Batch{2})).item();
              }),
              {"cross_entropy", std::to_string(wrong).c_str(), "`vocab`", "3"}));
  CHECK(has(sentence([&] { (void)cross_entropy<Vocab>(logits, zeros<i32, Batch>(Batch{3})); }),
            {"cross_entropy", "`batch`", "2", "3", "operand 1", "operand 2", "[batch 2, vocab 3]",
             "[batch 3]"}));
}

TEST_CASE("mse") {
  tensor x = counting<f32, Batch, Seq>(Batch{2}, Seq{2});
  tensor loss = mse(x, x + 2);
  static_assert(same<decltype(loss), tensor<f32>>);
  CHECK(loss.item() == 4);
  CHECK(mse(x, permute<Seq, Batch>(x)).item() == 0);
  CHECK(mse(full<f64>(3), full<f64>(1)).item() == 4);
  CHECK(has(sentence([&] { (void)mse(x, zeros<f32, Batch, Seq>(Batch{2}, Seq{3})); }),
            {"`seq`", "2", "3", "[batch 2, seq 2]", "[batch 2, seq 3]"}));
  CHECK(has(sentence([&] { (void)mse(x, zeros<f32, Batch, Seq>(Batch{2}, Seq{1})); }),
            {"mse", "`seq`", "2", "1"}));
}

TEST_CASE("second gradients of cross_entropy with narrow targets and many classes") {
  // 300 classes are more than a u8 counts: position 256 is not that of target 0.
  tensor logits = random::normal<f64, Vocab>(random::key(5), Vocab{300});
  auto const loss = [](auto const& x, auto const& t) { return cross_entropy<Vocab>(x, t); };
  auto const twice = [&](auto const& t) {
    return list(grad([&](auto const& x) { return sum(square(grad(loss, x, t))); }, logits));
  };
  CHECK(twice(full<u8>(0)) == twice(full<i64>(0)));
}
