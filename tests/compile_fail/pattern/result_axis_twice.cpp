// expect: einsum: an axis stands twice in the result, in `batch seq hidden -> batch >>batch=seq<<`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch seq hidden -> batch batch=seq">(x);
#else
  tensor y = einsum<"batch seq hidden -> batch seq">(x);
#endif
}
