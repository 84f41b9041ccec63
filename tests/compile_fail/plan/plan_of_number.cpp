// expect: plan_of, cost_of: the type is not that of a tensor, a view or an expression: write `decltype(e)`
// lines: 11
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor x = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  return plan_of<float>.copies;
#else
  return plan_of<decltype(x)>.copies;
#endif
}
