// expect: value_and_grad: the first value is neither a tensor nor a module (BOOST_HANA_DEFINE_STRUCT makes a struct one)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  auto [loss, g] = value_and_grad([](auto const&) { return full<f32>(1); }, 3.0);
#else
  auto [loss, g] = value_and_grad([](auto const& v) { return sum(v); }, b);
#endif
}
