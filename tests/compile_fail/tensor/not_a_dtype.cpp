// expect: tensor: the first type is not a dtype
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor<unsigned, Batch> x;
#else
  tensor<u8, Batch> x;
#endif
}
