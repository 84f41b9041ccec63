// expect: initialize: an extent is given as an axis value: Width{128}
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  nn::linear<f32, Batch, Mlp> layer;
#ifdef RICCI_MISTAKE
  initialize(layer, random::key(1), 8);
#else
  initialize(layer, random::key(1), Batch{8});
#endif
}
