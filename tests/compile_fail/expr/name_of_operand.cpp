// expect: einsum: operand 1 is the name of an unevaluated expression: write `tensor e = ...` (evaluates once) or `std::move(e)` (fuses here)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
  tensor w = zeros<f32, Hidden, Mlp>();
  auto e = a + a;
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch hidden, hidden mlp -> batch mlp">(e, w);
#else
  tensor y = einsum<"batch hidden, hidden mlp -> batch mlp">(std::move(e), w);
#endif
}
