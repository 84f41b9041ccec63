// expect: value_and_grad: the function returns i64, a loss is a floating number
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  auto [loss, g] = value_and_grad([](auto const& v) { return sum(to<i32>(v)); }, b);
#else
  auto [loss, g] = value_and_grad([](auto const& v) { return sum(v); }, b);
#endif
}
