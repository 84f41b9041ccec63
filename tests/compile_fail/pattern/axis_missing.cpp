// expect: einsum: operand 2 has no axis `hiden` (it has: hidden mlp)
// expect: did you mean `hidden`?
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
  tensor w = zeros<f32, Hidden, Mlp>();
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch seq hidden, hiden mlp -> batch seq mlp">(x, w);
#else
  tensor y = einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, w);
#endif
}
