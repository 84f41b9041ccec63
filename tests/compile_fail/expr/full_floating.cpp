// expect: full: the value is a floating number, the dtype is i32: write an integer
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor y = full<i32, Hidden>(1.5);
#else
  tensor y = full<i32, Hidden>(1);
#endif
}
