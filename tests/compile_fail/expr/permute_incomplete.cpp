// expect: permute: axis `hidden` is not named (all axes are, in their new order)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = permute<Seq, Batch>(x);
#else
  tensor y = permute<Seq, Batch, Hidden>(x);
#endif
}
