// Two tensors do not broadcast
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor bias = zeros<f32, Hidden>();
  tensor length = zeros<f32, Batch>(Batch{8});
#ifdef RICCI_MISTAKE
  tensor y = bias + length;
#else
  tensor y = outer(length, bias);
#endif
}
