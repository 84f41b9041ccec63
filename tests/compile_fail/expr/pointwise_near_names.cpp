// expect: *: operand 1 has axes [models], operand 2 has [model]
// expect: did you mean `models`?
#include <ricci/ricci.hpp>
using namespace ricci;

struct Models : axis<"models"> {};
struct Model : axis<"model"> {};

int main() {
  tensor p = zeros<f32, Models>(Models{2});
  tensor q = zeros<f32, Model>(Model{2});
#ifdef RICCI_MISTAKE
  tensor y = p * q;
#else
  tensor y = outer(p, q);
#endif
}
