// expect: &: not an operation on tensors: logic is `&&`, on boolean
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = (b > 0) & (b < 1);
#else
  tensor y = (b > 0) && (b < 1);
#endif
}
