// expect: einsum: axis `seq` stands under `...` and is the axis of another index in the result
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Query : axis<"query"> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"... hidden -> ... seq=hidden">(x);
#else
  tensor y = einsum<"... hidden -> ... query=hidden", Query>(x);
#endif
}
