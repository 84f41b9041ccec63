// expect: einsum: operand 2 is not a tensor
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch, -> batch">(b, 2);
#else
  tensor y = einsum<"batch, -> batch">(b, full<f32>(2));
#endif
}
