// expect: zeros: an extent is given for axis `model`, which the tensor has not (it has: models)
// expect: did you mean `models`?
#include <ricci/ricci.hpp>
using namespace ricci;

struct Models : axis<"models"> {};
struct Model : axis<"model"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor y = zeros<f32, Models>(Model{8});
#else
  tensor y = zeros<f32, Models>(Models{8});
#endif
}
