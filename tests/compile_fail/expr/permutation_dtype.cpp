// expect: random::permutation: not defined on f32, it makes i32 or i64
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};

int main() {
  random::key const k(1);
#ifdef RICCI_MISTAKE
  tensor y = random::permutation<f32, Hidden>(k);
#else
  tensor y = random::permutation<i32, Hidden>(k);
#endif
}
