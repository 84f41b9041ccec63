// The loss is not one number
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor x = zeros<f32, Batch, Hidden>(Batch{8});
#ifdef RICCI_MISTAKE
  auto [loss, gradient] = value_and_grad([](auto const& x) { return square(x); }, x);
#else
  auto [loss, gradient] = value_and_grad([](auto const& x) { return sum(square(x)); }, x);
#endif
}
