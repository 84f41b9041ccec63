// expect: einsum: `gemm` does not fit this contraction of f32; it can be lowered by `loops`
#include <ricci/ricci.hpp>
using namespace ricci;

struct I : axis<"i", 8> {};
struct J : axis<"j", 16> {};
struct K : axis<"k", 4> {};
struct L : axis<"l"> {};

// j and k follow each other in one operand, k and j in the other: they are one axis in neither.
int main() {
  tensor a = zeros<f32, I, J, K>();
  tensor b = zeros<f32, K, J, L>(L{2});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"i j k, k j l -> i l", lowering::gemm>(a, b);
#else
  tensor y = einsum<"i j k, k j l -> i l", lowering::pack_second_gemm>(a, b);
#endif
}
