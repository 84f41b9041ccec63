// expect: rearrange: parentheses hold the factors of an axis: write `axis=(p q)`, in `>>(<<h w) -> h w`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct H : axis<"h"> {};
struct W : axis<"w"> {};

int main() {
  tensor x = zeros<f32, Hidden>();
#ifdef RICCI_MISTAKE
  tensor y = rearrange<"(h w) -> h w", H, W>(x, H{8});
#else
  tensor y = rearrange<"hidden=(h w) -> h w", H, W>(x, H{8});
#endif
}
