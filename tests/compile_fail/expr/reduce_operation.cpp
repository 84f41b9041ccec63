// expect: reduce: the first type is no reduction: op::sum, op::max, ...
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};

int main() {
  tensor ids = zeros<i32, Batch, Seq>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = reduce<int, "batch seq -> batch">(ids);
#else
  tensor y = reduce<op::sum, "batch seq -> batch">(ids);
#endif
}
