// expect: tensor: a type after the dtype is not an axis
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor<f32, Batch, int> x;
#else
  tensor<f32, Batch, Seq> x;
#endif
}
