// expect: einsum: operand 1 is missing
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch -> ">();
#else
  tensor y = einsum<"batch -> ">(b);
#endif
}
