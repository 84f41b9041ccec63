// expect: tensor: the value has axes [batch seq hidden], the annotation says [seq batch hidden], another order
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor<f32, Seq, Batch, Hidden> y = x + 1;
#else
  tensor<f32, Batch, Seq, Hidden> y = x + 1;
#endif
}
