// expect: rearrange: index `seq` is not in the result, but rearrange keeps every element (reduce drops axes)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = rearrange<"batch seq hidden -> batch hidden">(x);
#else
  tensor y = rearrange<"batch seq hidden -> seq batch hidden">(x);
#endif
}
