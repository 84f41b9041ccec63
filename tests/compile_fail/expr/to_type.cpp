// expect: to: the type asked for is neither a dtype nor a device
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = to<Batch>(a);
#else
  tensor y = to<bf16>(a);
#endif
}
