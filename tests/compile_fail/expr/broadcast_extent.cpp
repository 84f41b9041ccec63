// expect: broadcast: the extent of axis `seq` is not given
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = broadcast<Seq>(a);
#else
  tensor y = broadcast<Seq>(a, Seq{3});
#endif
}
