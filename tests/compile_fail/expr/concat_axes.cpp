// expect: concat: operand 1 has axes [batch hidden], operand 2 has [batch]: they are the same for all operands
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = concat<Batch>(a, b);
#else
  tensor y = concat<Batch>(a, a);
#endif
}
