// expect: einsum: operand 2 is bf16, operand 1 is f32: dtypes do not mix, write `to<f32>(...)`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
  tensor w = zeros<bf16, Hidden, Mlp>();
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch hidden, hidden mlp -> batch mlp">(a, w);
#else
  tensor y = einsum<"batch hidden, hidden mlp -> batch mlp">(a, to<f32>(w));
#endif
}
