// expect: tensor: the value has axes [batch hidden], the annotation says [batch]
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

void take_batch(tensor<f32, Batch> const&) {}

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  take_batch(a);
#else
  take_batch(sum<Hidden>(a));
#endif
}
