// expect: +: operand 1 is boolean, it takes numbers: write `to<i32>(...)`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = (b > 0) + (b < 1);
#else
  tensor y = to<i32>(b > 0) + to<i32>(b < 1);
#endif
}
