// expect: rearrange: a `)` without its `(`, in `hidden=h>>)<< -> h`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct H : axis<"h"> {};

int main() {
  tensor x = zeros<f32, Hidden>();
#ifdef RICCI_MISTAKE
  tensor y = rearrange<"hidden=h) -> h", H>(x);
#else
  tensor y = rearrange<"hidden=h -> h", H>(x);
#endif
}
