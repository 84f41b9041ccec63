// expect: +: axis `hidden` has extent 64 in operand 1 and 32 in operand 2
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Narrow : axis<"hidden", 32> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = a + zeros<f32, Narrow>();
#else
  tensor y = a + zeros<f32, Hidden>();
#endif
}
