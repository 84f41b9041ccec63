// expect: attention: operand 2 has no axis `key` (it has: batch seq head_dim)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct HeadDim : axis<"head_dim", 16> {};
struct Key : axis<"key"> {};

int main() {
  tensor q = zeros<f32, Batch, Seq, HeadDim>(Batch{2}, Seq{3});
  tensor k = zeros<f32, Batch, Key, HeadDim>(Batch{2}, Key{3});
#ifdef RICCI_MISTAKE
  tensor y = attention<Seq, Key, HeadDim>(q, q, k);
#else
  tensor y = attention<Seq, Key, HeadDim>(q, k, k);
#endif
}
