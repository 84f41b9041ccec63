// expect: random::normal: not defined on i32, it makes floating numbers
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};

int main() {
  random::key const k(1);
#ifdef RICCI_MISTAKE
  tensor y = random::normal<i32, Hidden>(k);
#else
  tensor y = random::normal<f32, Hidden>(k);
#endif
}
