// An axis is misspelled
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{8}, Seq{128});
  tensor w = zeros<f32, Hidden, Mlp>();
#ifdef RICCI_MISTAKE
  tensor h = einsum<"batch seq hidden, hiden mlp -> batch seq mlp">(x, w);
#else
  tensor h = einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, w);
#endif
}
