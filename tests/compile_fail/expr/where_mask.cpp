// expect: where: operand 1 is f32, a mask is a boolean tensor (a comparison gives one)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = where(b, b, 0);
#else
  tensor y = where(b > 0, b, 0);
#endif
}
