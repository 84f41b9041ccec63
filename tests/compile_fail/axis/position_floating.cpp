// expect: batch
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
#ifdef RICCI_MISTAKE
  Batch position{1.5};
#else
  Batch position{1};
#endif
}
