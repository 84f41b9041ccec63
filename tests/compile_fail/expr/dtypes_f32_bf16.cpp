// expect: +: operand 1 is f32, operand 2 is bf16: dtypes do not mix, write `to<f32>(...)`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor p = zeros<f32, Batch>(Batch{2});
  tensor q = zeros<bf16, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = p + q;
#else
  tensor y = p + to<f32>(q);
#endif
}
