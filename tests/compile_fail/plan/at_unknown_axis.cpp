// expect: at: an extent is given for axis `sec`, which the cost does not depend on (it has: batch seq); did you mean `seq`?
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Sec : axis<"sec"> {};

int main() {
  tensor x = zeros<f32, Batch, Seq>(Batch{2}, Seq{3});
  auto e = x + 1.0f;
#ifdef RICCI_MISTAKE
  return static_cast<int>(cost_of<decltype(e)>.operations.at(Batch{8}, Sec{4}));
#else
  return static_cast<int>(cost_of<decltype(e)>.operations.at(Batch{8}, Seq{4}));
#endif
}
