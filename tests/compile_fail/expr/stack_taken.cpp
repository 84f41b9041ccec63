// expect: stack: axis `batch` stands twice
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Pair : axis<"pair", 2> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = stack<Batch>(b, b);
#else
  tensor y = stack<Pair>(b, b);
#endif
}
