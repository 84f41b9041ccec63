// expect: tensor: the value has axes [batch seq mlp], the annotation says [batch mlp]
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
  tensor w = zeros<f32, Hidden, Mlp>();
#ifdef RICCI_MISTAKE
  tensor<f32, Batch, Mlp> h = einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, w);
#else
  tensor<f32, Batch, Seq, Mlp> h = einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, w);
#endif
}
