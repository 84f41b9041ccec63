// expect: value_and_grad: the function returns axes [batch], a loss has none (write `mean(...)` or `sum(...)`)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  auto [loss, g] = value_and_grad([](auto const& v) { return square(v); }, b);
#else
  auto [loss, g] = value_and_grad([](auto const& v) { return sum(square(v)); }, b);
#endif
}
