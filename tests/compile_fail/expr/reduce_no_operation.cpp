// expect: reduce: the operation stands before the pattern
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};

int main() {
  tensor ids = zeros<i32, Batch, Seq>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = reduce<"batch seq -> batch">(ids);
#else
  tensor y = reduce<op::sum, "batch seq -> batch">(ids);
#endif
}
