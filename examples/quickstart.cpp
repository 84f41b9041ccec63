// The language of Ricci on one page. Each part stands alone; what it prints stands behind it.

#include <ricci/ricci.hpp>

#include <iostream>

using namespace ricci;

// Axes are types. One with a number has its extent at compile time, one without at run time.
struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Key : axis<"key"> {};
struct Hidden : axis<"hidden", 8> {};
struct Heads : axis<"heads", 2> {};
struct HeadDim : axis<"head_dim", 4> {};
struct Mlp : axis<"mlp", 16> {};

// A module is a struct of parameters and modules.
struct FeedForward {
  BOOST_HANA_DEFINE_STRUCT(FeedForward, (nn::linear<f32, Hidden, Mlp>, up), (nn::linear<f32, Mlp, Hidden>, down));
  auto operator()(auto const& x) const { return down(gelu(up(x))); }
};

int main() {
  random::key const key(42);

  // Tensors: dynamic extents are given by value, static ones are in the type.
  tensor x = random::normal<f32, Batch, Seq, Hidden>(key.fold("x"), Batch{2}, Seq{3});
  std::cout << "x is " << x.shape() << ", x at (1, 2, 0) is " << x(Batch{1}, Seq{2}, Hidden{0}) << "\n\n";

  // Contractions name their axes. Writing the type checks the result's axes, order included.
  tensor w = random::normal<f32, Hidden, Mlp>(key.fold("w"));
  tensor<f32, Batch, Seq, Mlp> h = einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, w);
  tensor same = einsum<"... hidden, hidden mlp -> ... mlp">(x, w);
  std::cout << "the same contraction: " << std::boolalpha << all(h == same).item() << "\n";
  // einsum<"batch seq mlp, ...">(x, w) does not compile: "operand 1 has no axis `mlp` (it has: ...)"

  // An expression is lazy: `auto` fuses, `tensor` evaluates. This is one GEMM with its bias and gelu:
  tensor b = zeros<f32, Mlp>();
  tensor activated = gelu(einsum<"... hidden, hidden mlp -> ... mlp">(x, w) + b);

  // Splitting, permuting and merging axes: views where the layout allows it.
  auto heads = rearrange<"batch seq hidden=(heads head_dim) -> batch heads seq head_dim", Heads, HeadDim>(x);
  tensor scores = einsum<"... seq head_dim, ... key head_dim -> ... seq key">(heads, rename<Seq, Key>(heads));
  tensor<f32, Batch, Heads, Seq, Key> p = softmax<Key>(scores / 2);
  std::cout << "rows of p sum to one: " << sum<Key>(at<Heads>(at<Batch>(p, 0), 1)) << "\n\n";

  // Reductions, broadcasting by name, comparison, choice.
  tensor centred = x - mean<Hidden>(x);
  tensor largest = reduce<op::max, "... hidden=(heads 4) -> ... heads", Heads>(centred);
  tensor positive = where(centred > 0, centred, 0);
  std::cout << largest << "\n\n";

  // Gradients, in the module's own type.
  FeedForward model;
  initialize(model, key.fold("model"));
  optim::adamw optimizer;
  for (int step = 0; step < 100; ++step) {
    auto [loss, gradient] =
        value_and_grad([](auto const& m, auto const& in, auto const& out) { return mse(m(in), out); }, model, x, x);
    if (step % 33 == 0) std::cout << "step " << step << ", loss " << loss << "\n";
    optimizer.step(model, gradient, 1e-2);
  }
  for_each_parameter(model, [](auto const& name, auto const& leaf) { std::cout << name << " " << leaf.shape() << "\n"; });
}
