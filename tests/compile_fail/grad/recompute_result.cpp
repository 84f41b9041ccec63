// expect: recompute: the function does not return a tensor
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = recompute([](auto const&) { return 1; }, b);
#else
  tensor y = recompute([](auto const& v) { return square(v); }, b);
#endif
}
