// expect: layer_norm: operand 2 is the name of an unevaluated expression
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
  tensor s = zeros<f32, Hidden>();
  auto e = s + 1;
#ifdef RICCI_MISTAKE
  tensor y = layer_norm<Hidden>(a, e, s);
#else
  tensor y = layer_norm<Hidden>(a, std::move(e), s);
#endif
}
