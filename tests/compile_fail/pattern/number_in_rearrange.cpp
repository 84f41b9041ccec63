// expect: rearrange: a number is an index without a name, which rearrange cannot keep: name it, in `batch=(h >>2<<) -> h`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct H : axis<"h"> {};
struct Chunk : axis<"chunk", 2> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = rearrange<"batch=(h 2) -> h", H>(b);
#else
  tensor y = rearrange<"batch=(h chunk) -> h chunk", H, Chunk>(b);
#endif
}
