// expect: sum: axis `hidden` has extent 64 in operand 1 and 32 in the call
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Narrow : axis<"hidden", 32> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = sum<Narrow>(a);
#else
  tensor y = sum<Hidden>(a);
#endif
}
