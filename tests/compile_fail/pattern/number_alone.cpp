// expect: einsum: a number stands for no axis by itself: write `axis=(p 2)`, in `batch >>2<< -> `
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch 2 -> ">(b);
#else
  tensor y = einsum<"batch -> ">(b);
#endif
}
