// expect: einsum: axis `hidden` has extent 64 in operand 1 and 32 in operand 2
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Narrow : axis<"hidden", 32> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, zeros<f32, Narrow, Mlp>());
#else
  tensor y = einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, zeros<f32, Hidden, Mlp>());
#endif
}
