// expect: random::normal: the first argument is a key: random::key(42)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor y = random::normal<f32, Hidden>(42);
#else
  tensor y = random::normal<f32, Hidden>(random::key(42));
#endif
}
