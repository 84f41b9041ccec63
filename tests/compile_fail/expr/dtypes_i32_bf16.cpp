// expect: +: operand 1 is i32, operand 2 is bf16: dtypes do not mix, write `to<i32>(...)`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor p = zeros<i32, Batch>(Batch{2});
  tensor q = zeros<bf16, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = p + q;
#else
  tensor y = p + to<i32>(q);
#endif
}
