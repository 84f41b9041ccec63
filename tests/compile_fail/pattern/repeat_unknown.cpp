// expect: repeat: the extent of index `batch` is not known
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor x = zeros<f32, Hidden>();
#ifdef RICCI_MISTAKE
  tensor y = repeat<"hidden -> batch hidden", Batch>(x);
#else
  tensor y = repeat<"hidden -> batch hidden", Batch>(x, Batch{8});
#endif
}
