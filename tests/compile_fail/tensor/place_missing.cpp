// expect: x(...): the position along axis `hidden` is missing
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  float y = a(Batch{1});
#else
  float y = a(Batch{1}, Hidden{3});
#endif
}
