// expect: einsum: `...` stands twice in one group, in `... hidden -> ... >>...<<`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"... hidden -> ... ...">(x);
#else
  tensor y = einsum<"... hidden -> ...">(x);
#endif
}
