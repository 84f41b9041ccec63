// expect: nn::linear: operand 1 has no axis `hidden` (it has: batch)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Heads : axis<"heads", 4> {};
struct HeadDim : axis<"head_dim", 16> {};

int main() {
  nn::attention<f32, Seq, Hidden, Heads, HeadDim> layer;
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = layer(b);
#else
  tensor y = layer(zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3}));
#endif
}
