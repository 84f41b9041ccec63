// expect: rearrange: an extent is given for axis `row`, which is not among the axis types after the pattern
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct Row : axis<"row"> {};
struct H : axis<"h"> {};
struct W : axis<"w"> {};

int main() {
  tensor x = zeros<f32, Hidden>();
#ifdef RICCI_MISTAKE
  tensor y = rearrange<"hidden=(h w) -> h w", H, W>(x, H{8}, Row{8});
#else
  tensor y = rearrange<"hidden=(h w) -> h w", H, W>(x, H{8});
#endif
}
