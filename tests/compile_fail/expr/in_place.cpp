// expect: +=: a tensor is never written in place: write `x = x + y`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  b += 1;
#else
  b = b + 1;
#endif
}
