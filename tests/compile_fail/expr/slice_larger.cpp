// expect: slice: axis `half` has extent 32, axis `hidden` has extent 64
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct HeadDim : axis<"head_dim", 16> {};
struct Half : axis<"half", 32> {};

int main() {
  tensor h = zeros<f32, Half>();
#ifdef RICCI_MISTAKE
  tensor y = slice<Half, Hidden>(h, 0);
#else
  tensor y = slice<Half, HeadDim>(h, 0);
#endif
}
