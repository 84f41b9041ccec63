// expect: tensor: axis `hidden` has extent 64 in the value and 32 in the annotation
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Narrow : axis<"hidden", 32> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor<f32, Batch, Narrow> y = a;
#else
  tensor<f32, Batch, Hidden> y = a;
#endif
}
