// expect: einsum: the result has an axis `keys` that no operand has, and its type is not among those after the pattern (key)
// expect: did you mean `key`?
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Key : axis<"key"> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch seq=q hidden -> batch keys=q", Key>(x);
#else
  tensor y = einsum<"batch seq=q hidden -> batch key=q", Key>(x);
#endif
}
