// expect: einsum: axis `seq` of operand 1 stands under `...` and another of its axes is indexed by that name: name both
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch=seq ... -> batch=seq">(x);
#else
  tensor y = einsum<"batch=b ... -> batch=b">(x);
#endif
}
