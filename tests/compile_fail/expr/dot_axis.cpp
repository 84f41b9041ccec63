// expect: dot: operand 2 has no axis `hidden` (it has: batch)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = dot<Hidden>(a, b);
#else
  tensor y = dot<Batch>(a, b);
#endif
}
