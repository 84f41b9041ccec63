// expect: nn::linear: operand 1 has no axis `hidden` (it has: batch)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  nn::linear<f32, Hidden, Mlp> layer;
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = layer(b);
#else
  tensor y = layer(outer(b, zeros<f32, Hidden>()));
#endif
}
