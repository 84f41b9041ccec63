// expect: take: operand 1 has no axis `batch` (it has: vocab hidden)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Vocab : axis<"vocab", 100> {};

int main() {
  tensor t = zeros<f32, Vocab, Hidden>();
  tensor ids = zeros<i32, Batch, Seq>(Batch{2}, Seq{3});
#ifdef RICCI_MISTAKE
  tensor y = take<Batch>(t, ids);
#else
  tensor y = take<Vocab>(t, ids);
#endif
}
