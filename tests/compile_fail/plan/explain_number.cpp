// expect: explain: operand 1 is not a tensor
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor x = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  auto plan = explain(3.0f);
#else
  auto plan = explain(x);
#endif
}
