// expect: nn::linear: operand 1 has the output axis `mlp` already (it has: hidden mlp)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};
struct Row : axis<"row"> {};

int main() {
  nn::linear<f32, Hidden, Mlp> layer;
  tensor w = zeros<f32, Hidden, Mlp>();
#ifdef RICCI_MISTAKE
  tensor y = layer(w);
#else
  tensor y = layer(rename<Mlp, Row>(w));
#endif
}
