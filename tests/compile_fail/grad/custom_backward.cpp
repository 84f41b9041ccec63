// expect: custom_vjp: the gradient of backward has axes [], operand 1 has [batch]
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = custom_vjp([](auto const& v) { return square(v); }, [](auto const& v, auto const&, auto const& dy) { return sum(2 * v * dy); }, b);
#else
  tensor y = custom_vjp([](auto const& v) { return square(v); }, [](auto const& v, auto const&, auto const& dy) { return 2 * v * dy; }, b);
#endif
}
