// expect: prime
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
#ifdef RICCI_MISTAKE
  using Second = prime<int>;
#else
  using Second = prime<Batch>;
#endif
}
