// expect: einsum: the pattern has no `->`, in `batch hidden, hidden mlp batch mlp>><<`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 96> {};

int main() {
  tensor x = zeros<f32, Batch, Hidden>(Batch{2});
  tensor w = zeros<f32, Hidden, Mlp>();
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch hidden, hidden mlp batch mlp">(x, w);
#else
  tensor y = einsum<"batch hidden, hidden mlp -> batch mlp">(x, w);
#endif
}
