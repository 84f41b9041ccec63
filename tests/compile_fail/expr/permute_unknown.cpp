// expect: permute: operand 1 has no axis `mlp` (it has: batch seq hidden)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = permute<Mlp, Batch, Seq>(x);
#else
  tensor y = permute<Hidden, Batch, Seq>(x);
#endif
}
