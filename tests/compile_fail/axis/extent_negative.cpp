// expect: axis: an extent is not negative
#include <ricci/ricci.hpp>
using namespace ricci;

struct Above : axis<"above", 5> {};
#ifdef RICCI_MISTAKE
struct Below : axis<"below", -5> {};
#endif

int main() {
#ifdef RICCI_MISTAKE
  (void)sizeof(Below);
#else
  (void)sizeof(Above);
#endif
}
