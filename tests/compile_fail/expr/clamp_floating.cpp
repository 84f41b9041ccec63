// expect: clamp: operand 3 is a floating number, operand 1 is i32
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};

int main() {
  tensor ids = zeros<i32, Batch, Seq>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = clamp(ids, 0, 1.5);
#else
  tensor y = clamp(ids, 0, 2);
#endif
}
