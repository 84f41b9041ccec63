// expect: cross_entropy: operand 1 has axes [batch seq vocab], operand 2 has [batch]: the targets have those of the logits without `vocab` (losses do not broadcast)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Vocab : axis<"vocab", 100> {};

int main() {
  tensor logits = zeros<f32, Batch, Seq, Vocab>(Batch{2}, Seq{3});
  tensor ids = zeros<i32, Batch, Seq>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = cross_entropy<Vocab>(logits, at<Seq>(ids, 0));
#else
  tensor y = cross_entropy<Vocab>(logits, ids);
#endif
}
