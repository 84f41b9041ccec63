// expect: concat: the call names 0 axes in < >, 1 is wanted; operand 1 has axes [batch]
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = concat(b, b);
#else
  tensor y = concat<Batch>(b, b);
#endif
}
