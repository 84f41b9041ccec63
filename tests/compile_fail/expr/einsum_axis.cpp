// expect: einsum: operand 2 has no axis `hiden`
// expect: did you mean `hidden`?
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor x = zeros<f32, Batch, Hidden>(Batch{8});
  tensor w = zeros<f32, Hidden, Mlp>();
#ifdef RICCI_MISTAKE
  tensor h = einsum<"batch hidden, hiden mlp -> batch mlp">(x, w);
#else
  tensor h = einsum<"batch hidden, hidden mlp -> batch mlp">(x, w);
#endif
}
