// expect: einsum: the axis `query` is given twice after the pattern
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Query : axis<"query"> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch seq=q hidden -> batch query=q", Query, Query>(x);
#else
  tensor y = einsum<"batch seq=q hidden -> batch query=q", Query>(x);
#endif
}
