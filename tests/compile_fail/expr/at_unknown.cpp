// expect: at: operand 1 has no axis `mlp` (it has: batch hidden)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = at<Mlp>(a, 1);
#else
  tensor y = at<Hidden>(a, 1);
#endif
}
