// expect: vjp: the argument of the pullback has axes [], y has [batch]
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
  auto [y, pullback] = vjp([](auto const& v) { return square(v); }, b);
#ifdef RICCI_MISTAKE
  auto dx = pullback(full<f32>(1));
#else
  auto dx = pullback(b);
#endif
}
