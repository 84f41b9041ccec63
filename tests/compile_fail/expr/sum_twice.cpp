// expect: sum: axis `batch` is named twice
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = sum<Batch, Batch>(a);
#else
  tensor y = sum<Batch, Hidden>(a);
#endif
}
