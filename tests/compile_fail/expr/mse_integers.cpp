// expect: mse: operand 1 is i32, it takes floating numbers: write `to<f32>(...)`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};

int main() {
  tensor ids = zeros<i32, Batch, Seq>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = mse(ids, ids);
#else
  tensor y = mse(to<f32>(ids), to<f32>(ids));
#endif
}
