// expect: cross_entropy: operand 2 is f32, targets are integers: positions along `vocab`
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Vocab : axis<"vocab", 100> {};

int main() {
  tensor logits = zeros<f32, Batch, Seq, Vocab>(Batch{2}, Seq{3});
  tensor ids = zeros<i32, Batch, Seq>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = cross_entropy<Vocab>(logits, to<f32>(ids));
#else
  tensor y = cross_entropy<Vocab>(logits, ids);
#endif
}
