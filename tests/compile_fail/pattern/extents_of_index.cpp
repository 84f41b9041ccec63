// expect: einsum: index `i` has extent 64 as axis `hidden` of operand 1 and 256 as axis `mlp` of operand 1
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor w = zeros<f32, Hidden, Mlp>();
#ifdef RICCI_MISTAKE
  tensor y = einsum<"hidden=i mlp=i -> ">(w);
#else
  tensor y = einsum<"hidden mlp -> ">(w);
#endif
}
