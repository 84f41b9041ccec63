// expect: +: operand 1 has axes [batch seq hidden], operand 2 has [hidden mlp]: neither has all axes of the other (write `broadcast` or `outer`)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
  tensor w = zeros<f32, Hidden, Mlp>();
#ifdef RICCI_MISTAKE
  tensor y = x + w;
#else
  tensor y = x + zeros<f32, Hidden>();
#endif
}
