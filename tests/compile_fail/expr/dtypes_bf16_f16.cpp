// expect: +: operand 1 is bf16, operand 2 is f16: dtypes do not mix, write `to<bf16>(...)`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor p = zeros<bf16, Batch>(Batch{2});
  tensor q = zeros<f16, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = p + q;
#else
  tensor y = p + to<bf16>(q);
#endif
}
