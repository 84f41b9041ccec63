// expect: rearrange: the extent of index `h` is not known: give it as an axis of static extent after the pattern
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct H : axis<"h"> {};
struct W : axis<"w"> {};

int main() {
  tensor x = zeros<f32, Hidden>();
#ifdef RICCI_MISTAKE
  tensor y = rearrange<"hidden=(h w) -> h w", H, W>(x);
#else
  tensor y = rearrange<"hidden=(h w) -> h w", H, W>(x, W{8});
#endif
}
