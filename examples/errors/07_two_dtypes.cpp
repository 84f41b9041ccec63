// Two dtypes mix
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor x = zeros<f32, Batch, Hidden>(Batch{8});
  tensor bias = zeros<bf16, Hidden>();
#ifdef RICCI_MISTAKE
  tensor y = x + bias;
#else
  tensor y = x + to<f32>(bias);
#endif
}
