// expect: zeros: two axis types are named `query` (in the tensor and the extents given): one name is one type
#include <ricci/ricci.hpp>
using namespace ricci;

struct Query : axis<"query"> {};
struct Query2 : axis<"query"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor y = zeros<f32, Query>(Query2{8});
#else
  tensor y = zeros<f32, Query>(Query{8});
#endif
}
