// A loss is given two shapes
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct One : axis<"one", 1> {};

int main() {
  tensor y = zeros<f32, Batch, One>(Batch{8});
  tensor target = zeros<f32, Batch>(Batch{8});
#ifdef RICCI_MISTAKE
  tensor loss = mse(y, target);
#else
  tensor loss = mse(at<One>(y, 0), target);
#endif
}
