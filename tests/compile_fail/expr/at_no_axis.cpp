// expect: at: the call names 0 axes in < >, 1 is wanted; operand 1 has axes [batch hidden]
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = at(a, 1);
#else
  tensor y = at(a, Hidden{1});
#endif
}
