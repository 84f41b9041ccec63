// expect: *: operand 2 is a floating number, operand 1 is i32: write an integer or `to<f32>(...)`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};

int main() {
  tensor ids = zeros<i32, Batch, Seq>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = ids * 1.5;
#else
  tensor y = ids * 2;
#endif
}
