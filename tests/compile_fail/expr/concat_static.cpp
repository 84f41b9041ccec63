// expect: concat: axis `hidden` has the static extent 64, the result is another axis
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Wide : axis<"wide", 128> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = concat<Hidden>(a, a);
#else
  tensor y = concat<Hidden, Wide>(a, a);
#endif
}
