// The result has a new axis whose type is not given
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Query : axis<"query"> {};
struct Key : axis<"key"> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{8}, Seq{128});
#ifdef RICCI_MISTAKE
  tensor s = einsum<"batch seq=q hidden, batch seq=k hidden -> batch query=q key=k", Query>(x, x);
#else
  tensor s = einsum<"batch seq=q hidden, batch seq=k hidden -> batch query=q key=k", Query, Key>(x, x);
#endif
}
