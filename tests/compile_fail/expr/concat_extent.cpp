// expect: concat: 3 times axis `hidden` of extent 64 make 192, axis `wide` has extent 128
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Wide : axis<"wide", 128> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = concat<Hidden, Wide>(a, a, a);
#else
  tensor y = concat<Hidden, Wide>(a, a);
#endif
}
