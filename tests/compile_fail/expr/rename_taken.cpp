// expect: rename: axis `batch` stands twice: the axes of a tensor are all different
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Key : axis<"key"> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = rename<Seq, Batch>(x);
#else
  tensor y = rename<Seq, Key>(x);
#endif
}
