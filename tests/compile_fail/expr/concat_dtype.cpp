// expect: concat: operand 2 is f64, operand 1 is f32: dtypes do not mix
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = concat<Batch>(b, to<f64>(b));
#else
  tensor y = concat<Batch>(b, b);
#endif
}
