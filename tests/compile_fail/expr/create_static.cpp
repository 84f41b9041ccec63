// expect: ones: axis `hidden` has the static extent 64: it is not given by value
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor y = ones<f32, Hidden>(Hidden{64});
#else
  tensor y = ones<f32, Hidden>();
#endif
}
