// expect: where: operand 1 is a number, a mask is a boolean tensor
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = where(true, b, 0);
#else
  tensor y = where(b == b, b, 0);
#endif
}
