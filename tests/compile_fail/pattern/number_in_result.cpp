// expect: einsum: a number in the result is an axis without a name (only repeat has it), in `batch -> row=(batch >>2<<)`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Row : axis<"row"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch -> row=(batch 2)", Row>(b);
#else
  tensor y = einsum<"batch -> row=batch", Row>(b);
#endif
}
