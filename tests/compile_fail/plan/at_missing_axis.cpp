// expect: at: the extent of axis `seq` is missing (the cost depends on: batch seq)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};

int main() {
  tensor x = zeros<f32, Batch, Seq>(Batch{2}, Seq{3});
  auto e = x + 1.0f;
#ifdef RICCI_MISTAKE
  return static_cast<int>(cost_of<decltype(e)>.operations.at(Batch{8}));
#else
  return static_cast<int>(cost_of<decltype(e)>.operations.at(Batch{8}, Seq{4}));
#endif
}
