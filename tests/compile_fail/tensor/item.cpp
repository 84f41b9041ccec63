// expect: item: the value has axes [batch]; item() reads a rank-0 value
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  float total = b.item();
#else
  float total = b(Batch{0});
#endif
}
