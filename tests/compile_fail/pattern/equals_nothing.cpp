// expect: einsum: an index or its factors in parentheses stand after `=`, in `batch= >>-<<> `
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch= -> ">(b);
#else
  tensor y = einsum<"batch=b -> ">(b);
#endif
}
