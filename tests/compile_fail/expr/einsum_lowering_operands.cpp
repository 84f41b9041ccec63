// expect: einsum: `loops` is how two operands are contracted, the call has 3 (their order is steered by `path<...>`)
#include <ricci/ricci.hpp>
using namespace ricci;

struct I : axis<"i", 8> {};
struct J : axis<"j"> {};
struct K : axis<"k", 4> {};
struct L : axis<"l"> {};

int main() {
  tensor a = zeros<f32, I, J>(J{3});
  tensor b = zeros<f32, J, K>(J{3});
  tensor c = zeros<f32, K, L>(L{2});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"i j, j k, k l -> i l", lowering::loops>(a, b, c);
#else
  tensor y = einsum<"i j, j k, k l -> i l">(a, b, c);
#endif
}
