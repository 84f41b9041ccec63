// expect: zeros: the first type in < > is the dtype: zeros<f32, ...>
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor y = zeros<Batch>(Batch{8});
#else
  tensor y = zeros<f32, Batch>(Batch{8});
#endif
}
