// expect: tensor: two axis types are named `query`: one name is one type
#include <ricci/ricci.hpp>
using namespace ricci;

struct Query : axis<"query"> {};
struct Key : axis<"key"> {};
struct Query2 : axis<"query"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor<f32, Query, Query2> x;
#else
  tensor<f32, Query, Key> x;
#endif
}
