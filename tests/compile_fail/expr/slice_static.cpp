// expect: slice: axis `hidden` has the static extent 64, a part of it is another axis
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Half : axis<"half", 32> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = slice<Hidden>(a, 0, 32);
#else
  tensor y = slice<Hidden, Half>(a, 0);
#endif
}
