// expect: rearrange: axis `mlp` has extent 256, its factors (heads 4 head_dim 16) make 64
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};
struct Heads : axis<"heads", 4> {};
struct HeadDim : axis<"head_dim", 16> {};

int main() {
  tensor x = zeros<f32, Heads, HeadDim>();
#ifdef RICCI_MISTAKE
  tensor y = rearrange<"heads head_dim -> mlp=(heads head_dim)", Mlp>(x);
#else
  tensor y = rearrange<"heads head_dim -> hidden=(heads head_dim)", Hidden>(x);
#endif
}
