// expect: from: the first argument is no contiguous range of f32
#include <ricci/ricci.hpp>

#include <vector>

using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
  std::vector<double> const v{1, 2};
#ifdef RICCI_MISTAKE
  tensor y = from<f32, Batch>(v, Batch{2});
#else
  tensor y = from<f64, Batch>(v, Batch{2});
#endif
}
