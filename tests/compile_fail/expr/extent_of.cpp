// expect: extent_of: operand 1 has no axis `seq` (it has: batch hidden)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  auto n = extent_of<Seq>(a);
#else
  auto n = extent_of<Batch>(a);
#endif
}
