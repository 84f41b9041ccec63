// The name of an unevaluated expression is used
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor x = zeros<f32, Batch, Hidden>(Batch{8});
#ifdef RICCI_MISTAKE
  auto e = x + 1;
  tensor y = e * e;
#else
  tensor e = x + 1;
  tensor y = e * e;
#endif
}
