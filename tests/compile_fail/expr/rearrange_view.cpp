// expect: rearrange_view: `seq` and `batch` of operand 1 are not adjacent in memory, so that merging them needs a copy
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Row : axis<"row"> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  auto y = rearrange_view<"batch seq hidden -> row=(seq batch) hidden", Row>(x);
#else
  auto y = rearrange_view<"batch seq hidden -> row=(batch seq) hidden", Row>(x);
#endif
}
