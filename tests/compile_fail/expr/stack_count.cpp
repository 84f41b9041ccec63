// expect: stack: axis `three` has extent 3, the call has 2 operands
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Three : axis<"three", 3> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = stack<Three>(b, b);
#else
  tensor y = stack<Three>(b, b, b);
#endif
}
