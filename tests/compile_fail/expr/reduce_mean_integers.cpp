// expect: reduce: operand 1 is i32, it takes floating numbers
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};

int main() {
  tensor ids = zeros<i32, Batch, Seq>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = reduce<op::mean, "batch seq -> batch">(ids);
#else
  tensor y = reduce<op::sum, "batch seq -> batch">(ids);
#endif
}
