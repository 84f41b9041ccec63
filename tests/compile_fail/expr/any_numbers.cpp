// expect: any: operand 1 is f32, it takes boolean (a comparison gives one)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = any<Batch>(a);
#else
  tensor y = any<Batch>(a > 0);
#endif
}
