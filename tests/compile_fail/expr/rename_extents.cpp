// expect: rename: axis `hidden` has extent 64, axis `half` has extent 32
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Row : axis<"row"> {};
struct Half : axis<"half", 32> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = rename<Hidden, Half>(a);
#else
  tensor y = rename<Hidden, Row>(a);
#endif
}
