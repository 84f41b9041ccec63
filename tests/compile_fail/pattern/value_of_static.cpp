// expect: rearrange: axis `heads` has the static extent 4: it is not given by value
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct Heads : axis<"heads", 4> {};
struct W : axis<"w"> {};

int main() {
  tensor x = zeros<f32, Hidden>();
#ifdef RICCI_MISTAKE
  tensor y = rearrange<"hidden=(heads w) -> heads w", Heads, W>(x, Heads{4});
#else
  tensor y = rearrange<"hidden=(heads w) -> heads w", Heads, W>(x);
#endif
}
