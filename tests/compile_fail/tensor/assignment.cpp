// expect: tensor: the value has axes [batch seq], the annotation says [batch]
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};

int main() {
  tensor<f32, Batch> total;
  tensor ids = zeros<i32, Batch, Seq>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  total = to<f32>(ids);
#else
  total = sum<Seq>(to<f32>(ids));
#endif
}
