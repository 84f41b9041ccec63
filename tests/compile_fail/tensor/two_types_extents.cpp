// expect: tensor: two axis types are named `hidden`, of extents 64 and 32: one name is one type
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct Narrow : axis<"hidden", 32> {};
struct Half : axis<"half", 32> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor<f32, Hidden, Narrow> x;
#else
  tensor<f32, Hidden, Half> x;
#endif
}
