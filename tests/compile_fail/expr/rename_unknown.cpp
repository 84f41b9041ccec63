// expect: rename: operand 1 has no axis `model` (it has: models)
// expect: did you mean `models`?
#include <ricci/ricci.hpp>
using namespace ricci;

struct Key : axis<"key"> {};
struct Models : axis<"models"> {};
struct Model : axis<"model"> {};

int main() {
  tensor m = zeros<f32, Models>(Models{2});
#ifdef RICCI_MISTAKE
  tensor y = rename<Model, Key>(m);
#else
  tensor y = rename<Models, Key>(m);
#endif
}
