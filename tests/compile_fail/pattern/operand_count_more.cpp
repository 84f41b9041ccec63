// expect: einsum: the pattern has 2 operands, the call has 1
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
  tensor y = einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x);
#else
  tensor y = einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, w);
#endif
}
