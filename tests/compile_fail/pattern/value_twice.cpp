// expect: rearrange: the extent of axis `h` is given twice
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct H : axis<"h"> {};
struct W : axis<"w"> {};

int main() {
  tensor x = zeros<f32, Hidden>();
#ifdef RICCI_MISTAKE
  tensor y = rearrange<"hidden=(h w) -> h w", H, W>(x, H{8}, H{4});
#else
  tensor y = rearrange<"hidden=(h w) -> h w", H, W>(x, H{8});
#endif
}
