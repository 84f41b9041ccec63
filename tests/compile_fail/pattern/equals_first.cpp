// expect: einsum: the left of `=` is an axis, its right an index, in `>>=<<b -> `
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"=b -> ">(b);
#else
  tensor y = einsum<"batch=b -> ">(b);
#endif
}
