// expect: einsum: the axis `key` is given after the pattern, but the result has no such axis
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Query : axis<"query"> {};
struct Key : axis<"key"> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch seq=q hidden -> batch query=q", Query, Key>(x);
#else
  tensor y = einsum<"batch seq=q hidden -> batch query=q", Query>(x);
#endif
}
