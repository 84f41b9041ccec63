// expect: zeros: a type in < > is not an axis
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor y = zeros<f32, int>();
#else
  tensor y = zeros<f32, Hidden>();
#endif
}
