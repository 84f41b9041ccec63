// expect: slice: begin, count and step along axis `batch` are integers
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = slice<Batch>(a, 0.5, 1);
#else
  tensor y = slice<Batch>(a, 0, 1);
#endif
}
