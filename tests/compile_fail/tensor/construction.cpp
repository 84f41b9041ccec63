// expect: tensor: a constructor takes no extents and no numbers: write `zeros<...>`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor<f32, Batch> x(Batch{8});
#else
  tensor x = zeros<f32, Batch>(Batch{8});
#endif
}
