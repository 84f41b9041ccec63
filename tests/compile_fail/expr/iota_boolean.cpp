// expect: iota: not defined on boolean, it makes numbers
#include <ricci/ricci.hpp>
using namespace ricci;

struct Seq : axis<"seq"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor y = iota<boolean, Seq>(Seq{8});
#else
  tensor y = iota<i32, Seq>(Seq{8});
#endif
}
