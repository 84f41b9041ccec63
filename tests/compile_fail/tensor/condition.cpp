// expect: if: a tensor is not a condition: write `all(a == b).item()`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  if (b == b) return 1;
#else
  if (all(b == b).item()) return 1;
#endif
}
