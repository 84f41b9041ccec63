// expect: layer_norm: operand 2 has axes [batch], it has the normalized axis `hidden` alone
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
  tensor b = zeros<f32, Batch>(Batch{2});
  tensor s = zeros<f32, Hidden>();
#ifdef RICCI_MISTAKE
  tensor y = layer_norm<Hidden>(a, b, s);
#else
  tensor y = layer_norm<Hidden>(a, s, s);
#endif
}
