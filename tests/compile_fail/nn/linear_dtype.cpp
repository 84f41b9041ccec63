// expect: nn::linear: operand 1 is f32, the weight is bf16: write `to<bf16>(...)`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  nn::linear<bf16, Hidden, Mlp> layer;
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = layer(a);
#else
  tensor y = layer(to<bf16>(a));
#endif
}
