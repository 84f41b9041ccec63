// expect: einsum: operand 1 has an axis `seq` that the pattern does not name (it has: batch seq hidden); name it or write `...`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch hidden -> batch">(x);
#else
  tensor y = einsum<"batch seq hidden -> batch">(x);
#endif
}
