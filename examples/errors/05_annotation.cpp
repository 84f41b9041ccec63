// The value has other axes than the annotation says
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
  tensor<f32, Batch, Mlp> h = einsum<"... hidden, hidden mlp -> ... mlp">(x, w);
#else
  tensor<f32, Batch, Seq, Mlp> h = einsum<"... hidden, hidden mlp -> ... mlp">(x, w);
#endif
}
