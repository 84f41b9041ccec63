// expect: &&: operand 1 is f32, it takes boolean (a comparison gives one)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = b && b;
#else
  tensor y = b > 0 && b < 1;
#endif
}
