// expect: repeat: index `row` is not in the result, but repeat keeps every element (reduce drops axes)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Row : axis<"row"> {};

int main() {
  tensor x = zeros<f32, Row>(Row{2});
#ifdef RICCI_MISTAKE
  tensor y = repeat<"row -> batch", Batch>(x, Batch{8});
#else
  tensor y = repeat<"row -> batch row", Batch>(x, Batch{8});
#endif
}
