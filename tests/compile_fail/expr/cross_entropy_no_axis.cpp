// expect: cross_entropy: the call names 0 axes in < >, 1 is wanted; operand 1 has axes [batch seq vocab]
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Vocab : axis<"vocab", 100> {};

int main() {
  tensor logits = zeros<f32, Batch, Seq, Vocab>(Batch{2}, Seq{3});
  tensor ids = zeros<i32, Batch, Seq>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = cross_entropy(logits, ids);
#else
  tensor y = cross_entropy<Vocab>(logits, ids);
#endif
}
