// expect: einsum: names are of small letters, digits and `_` (the name of the axis, not of its type), in `>>Batch<< -> `
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"Batch -> ">(b);
#else
  tensor y = einsum<"batch -> ">(b);
#endif
}
