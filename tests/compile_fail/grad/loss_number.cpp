// expect: value_and_grad: the function does not return a tensor
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  auto [loss, g] = value_and_grad([](auto const&) { return 1.0; }, b);
#else
  auto [loss, g] = value_and_grad([](auto const& v) { return sum(v); }, b);
#endif
}
