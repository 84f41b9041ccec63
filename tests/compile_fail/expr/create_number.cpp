// expect: zeros: an extent is given as an axis value: batch{...}
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor y = zeros<f32, Batch>(8);
#else
  tensor y = zeros<f32, Batch>(Batch{8});
#endif
}
