// expect: einsum: axis `hidden` has extent 32 in operand 1 and 64 in the types after the pattern
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct Narrow : axis<"hidden", 32> {};
struct Half : axis<"half", 32> {};

int main() {
  tensor x = zeros<f32, Narrow, Half>();
#ifdef RICCI_MISTAKE
  tensor y = einsum<"hidden half -> hidden=half", Hidden>(x);
#else
  tensor y = einsum<"hidden half -> hidden=half">(x);
#endif
}
