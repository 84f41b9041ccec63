// expect: tensor: the value is f32, the annotation says bf16 (write `to<bf16>(...)`)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor<bf16, Batch> y = b * b;
#else
  tensor<bf16, Batch> y = to<bf16>(b * b);
#endif
}
