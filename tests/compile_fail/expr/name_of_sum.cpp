// expect: *: operand 1 is the name of an unevaluated expression: write `tensor e = ...` (evaluates once) or `std::move(e)` (fuses here)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
  auto e = a + a;
#ifdef RICCI_MISTAKE
  tensor y = e * e;
#else
  tensor y = std::move(e) * 2;
#endif
}
