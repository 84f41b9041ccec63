// expect: reduce: a number beyond 2^40, in `batch=(h >>9000000000000<<) -> h`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct H : axis<"h"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = reduce<op::max, "batch=(h 9000000000000) -> h", H>(b);
#else
  tensor y = reduce<op::max, "batch=(h 2) -> h", H>(b);
#endif
}
