// expect: x(...): a place is given by axes
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  float y = b(1);
#else
  float y = b(Batch{1});
#endif
}
