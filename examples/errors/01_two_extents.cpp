// Two operands disagree about an extent
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct OldHidden : axis<"hidden", 32> {};  // from another model
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{8}, Seq{128});
#ifdef RICCI_MISTAKE
  tensor w = zeros<f32, OldHidden, Mlp>();
  tensor h = einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, w);
#else
  tensor w = zeros<f32, Hidden, Mlp>();
  tensor h = einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, w);
#endif
}
