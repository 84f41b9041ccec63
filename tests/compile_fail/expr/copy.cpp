// expect: expression: it moves and does not copy: write `tensor e = ...` (evaluates once) or `std::move(e)` (fuses)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
  auto e = b + b;
#ifdef RICCI_MISTAKE
  auto f = e;
#else
  auto f = std::move(e);
#endif
}
