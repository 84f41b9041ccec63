// expect: tensor: two axis types are named `hidden` (in the value and the annotation): one name is one type
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Loose : axis<"hidden"> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor<f32, Batch, Loose> y = a;
#else
  tensor<f32, Batch, Hidden> y = a;
#endif
}
