// expect: x(...): the value has no axis `model` (it has: models)
// expect: did you mean `models`?
#include <ricci/ricci.hpp>
using namespace ricci;

struct Models : axis<"models"> {};
struct Model : axis<"model"> {};

int main() {
  tensor m = zeros<f32, Models>(Models{2});
#ifdef RICCI_MISTAKE
  float y = m(Model{1});
#else
  float y = m(Models{1});
#endif
}
