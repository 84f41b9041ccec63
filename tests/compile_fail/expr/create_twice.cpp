// expect: zeros: the extent of axis `batch` is given twice
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor y = zeros<f32, Batch>(Batch{8}, Batch{4});
#else
  tensor y = zeros<f32, Batch>(Batch{8});
#endif
}
