// What a statement becomes: printed for people, asserted for regressions, priced before it runs.
#include <iostream>

#include <ricci/ricci.hpp>

using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq", 128> {};
struct Query : axis<"query", 128> {};
struct Key : axis<"key", 128> {};
struct Heads : axis<"heads", 12> {};
struct HeadDim : axis<"head_dim", 64> {};
struct Hidden : axis<"hidden", 768> {};
struct Mlp : axis<"mlp", 3072> {};

int main() {
  random::key const key(1);
  tensor const x = random::normal<f32, Batch, Seq, Hidden>(key.fold("x"), Batch{8});
  tensor const w = random::normal<f32, Hidden, Mlp>(key.fold("w"));
  tensor const b = random::normal<f32, Mlp>(key.fold("b"));

  // 1. One statement, one matrix product: bias and activation end it.
  auto up = gelu(einsum<"... hidden, hidden mlp -> ... mlp">(x, w) + b);
  static_assert(plan_of<decltype(up)>.gemms == 1);
  static_assert(plan_of<decltype(up)>.copies == 0);
  static_assert(plan_of<decltype(up)>.launches == 1);
  std::cout << explain(up) << '\n';

  // 2. What it costs, before Batch is known.
  auto const cost = cost_of<decltype(up)>;
  std::cout << "operations: " << cost.operations << "; for 8: " << cost.operations.at(Batch{8})
            << "\n\n";

  // 3. Heads are read where they lie, and written where the next product wants them.
  tensor const q = random::normal<f32, Batch, Seq, Heads, HeadDim>(key.fold("q"), Batch{8});
  tensor const k = random::normal<f32, Batch, Seq, Heads, HeadDim>(key.fold("k"), Batch{8});
  auto scores = einsum<
      "batch seq=query heads head_dim, batch seq=key heads head_dim -> batch heads query key",
      Query, Key>(q, k);
  static_assert(plan_of<decltype(scores)>.copies == 0);
  std::cout << explain(scores) << '\n';

  // 4. Heads side by side again: here nothing can be a view, so it is one copy, and says so.
  tensor const values =
      random::normal<f32, Batch, Heads, Seq, HeadDim>(key.fold("values"), Batch{8});
  auto merged =
      rearrange<"batch heads seq head_dim -> batch seq hidden=(heads head_dim)", Hidden>(values);
  static_assert(plan_of<decltype(merged)>.copies == 1);
  std::cout << explain(merged) << '\n';

  // 5. The same product, forced another way: for studying lowerings (bench/einsum.sh times them).
  auto packed = einsum<
      "batch seq=query heads head_dim, batch seq=key heads head_dim -> batch heads query key",
      lowering::pack_gemm, Query, Key>(q, k);
  static_assert(plan_of<decltype(packed)>.copies == 2);

  // 6. Three operands: the cheapest order is found, or given.
  tensor const u = random::normal<f32, Hidden, Mlp>(key.fold("u"));
  tensor const v = random::normal<f32, Mlp, HeadDim>(key.fold("v"));
  auto chain = einsum<"... hidden, hidden mlp, mlp head_dim -> ... head_dim">(x, u, v);
  auto by_hand =
      einsum<"... hidden, hidden mlp, mlp head_dim -> ... head_dim", path<0, 1, 0, 1>>(x, u, v);
  std::cout << explain(chain) << '\n'
            << "by hand: " << explain(by_hand).operations() << " operations instead of "
            << explain(chain).operations() << '\n';
}
