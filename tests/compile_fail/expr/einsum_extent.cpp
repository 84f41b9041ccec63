// expect: einsum: axis `hidden` has extent 64 in operand 1 and 32 in operand 2
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Narrow : axis<"hidden", 32> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor x = zeros<f32, Batch, Hidden>(Batch{8});
#ifdef RICCI_MISTAKE
  tensor w = zeros<f32, Narrow, Mlp>();
#else
  tensor w = zeros<f32, Hidden, Mlp>();
#endif
  tensor h = einsum<"batch hidden, hidden mlp -> batch mlp">(x, w);
}
