// expect: slice: the extent of axis `part` is not known
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Part : axis<"part"> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = slice<Hidden, Part>(a, 0);
#else
  tensor y = slice<Hidden, Part>(a, 0, 32);
#endif
}
