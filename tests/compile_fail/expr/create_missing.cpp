// expect: zeros: the extent of axis `seq` is not given: it is dynamic, give it by value at the end
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor y = zeros<f32, Batch, Seq>(Batch{8});
#else
  tensor y = zeros<f32, Batch, Seq>(Batch{8}, Seq{4});
#endif
}
