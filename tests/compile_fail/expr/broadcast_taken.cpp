// expect: broadcast: axis `batch` stands twice: the axes of a tensor are all different
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = broadcast<Batch>(a, Batch{3});
#else
  tensor y = broadcast<Seq>(a, Seq{3});
#endif
}
