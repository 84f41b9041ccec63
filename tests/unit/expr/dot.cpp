// dot: one axis, several, batch axes in both.
#include "tests/unit/expr/values.hpp"

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 3> {};
struct Heads : axis<"heads"> {};
struct Mlp : axis<"mlp"> {};

}  // namespace

TEST_CASE("dot") {
  tensor x = counting<f64, Batch, Hidden>(Batch{2});
  tensor w = counting<f64, Hidden, Mlp>(Mlp{2});
  tensor y = dot<Hidden>(x, w);
  static_assert(same<decltype(y), tensor<f64, Batch, Mlp>>);
  CHECK(numbers(y) == numbers(einsum<"batch hidden, hidden mlp -> batch mlp">(x, w)));
  CHECK(numbers(dot<Hidden>(permute<Hidden, Batch>(x), w)) == numbers(y));
  // Axes of both that are not contracted are batched.
  tensor z = dot<Hidden>(x, x);
  static_assert(same<decltype(z), tensor<f64, Batch>>);
  CHECK(numbers(z) == doubles{5, 50});
  CHECK(dot<Batch, Hidden>(x, x).item() == 55);
  CHECK(dot<Hidden>(at<Batch>(x, 0), at<Batch>(x, 1)).item() == 14);
  tensor u = dot<Heads, Hidden>(counting<f64, Batch, Heads, Hidden>(Batch{2}, Heads{2}),
                                counting<f64, Heads, Hidden, Mlp>(Heads{2}, Mlp{1}));
  static_assert(same<decltype(u), tensor<f64, Batch, Mlp>>);
  CHECK(numbers(u) == doubles{55, 145});
  // No axis: the product, broadcast over all axes by name.
  CHECK(numbers(dot<>(at<Batch>(x, 1), at<Batch>(x, 1))) == doubles{9, 16, 25});
  CHECK(has(sentence([] { (void)dot<Mlp>(zeros<f64, Mlp>(Mlp{2}), zeros<f64, Mlp>(Mlp{3})); }),
            {"`mlp`", "2", "3"}));
}
