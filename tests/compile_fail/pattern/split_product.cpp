// expect: rearrange: axis `hidden` has extent 64, its factors (heads 4 chunk 2) make 8
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct Heads : axis<"heads", 4> {};
struct HeadDim : axis<"head_dim", 16> {};
struct Chunk : axis<"chunk", 2> {};

int main() {
  tensor x = zeros<f32, Hidden>();
#ifdef RICCI_MISTAKE
  tensor y = rearrange<"hidden=(heads chunk) -> heads chunk", Heads, Chunk>(x);
#else
  tensor y = rearrange<"hidden=(heads head_dim) -> heads head_dim", Heads, HeadDim>(x);
#endif
}
