// expect: axis: a name is of small letters, digits and `_`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Small : axis<"small"> {};
#ifdef RICCI_MISTAKE
struct Large : axis<"Large"> {};
#endif

int main() {
#ifdef RICCI_MISTAKE
  (void)sizeof(Large);
#else
  (void)sizeof(Small);
#endif
}
