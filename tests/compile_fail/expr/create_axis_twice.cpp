// expect: zeros: axis `hidden` stands twice: the axes of a tensor are all different
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor y = zeros<f32, Hidden, Hidden>();
#else
  tensor y = zeros<f32, Hidden, prime<Hidden>>();
#endif
}
