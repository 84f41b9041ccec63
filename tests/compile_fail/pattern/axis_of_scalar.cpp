// expect: einsum: operand 1 has no axis `batch` (it is a scalar)
#include <ricci/ricci.hpp>
using namespace ricci;

int main() {
  tensor s = full<f32>(1);
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch -> ">(s);
#else
  tensor y = einsum<"-> ">(s);
#endif
}
