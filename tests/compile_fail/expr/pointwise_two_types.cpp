// expect: +: two axis types are named `query` (in operand 1 and operand 2): one name is one type
#include <ricci/ricci.hpp>
using namespace ricci;

struct Query : axis<"query"> {};
struct Query2 : axis<"query"> {};

int main() {
  tensor x = zeros<f32, Query>(Query{2});
#ifdef RICCI_MISTAKE
  tensor y = x + zeros<f32, Query2>(Query2{2});
#else
  tensor y = x + zeros<f32, Query>(Query{2});
#endif
}
