// expect: einsum: argument 3 stands behind an axis value: operands come first
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Query : axis<"query"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch=b, batch=b -> query=b", Query>(b, Query{2}, b);
#else
  tensor y = einsum<"batch=b, batch=b -> query=b", Query>(b, b, Query{2});
#endif
}
