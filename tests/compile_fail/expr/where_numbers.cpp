// expect: where: the values are numbers, at least one is a tensor
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = where(b > 0, 1, 0);
#else
  tensor y = where(b > 0, b, 0);
#endif
}
