// expect: einsum: index `k` has extent 64 as axis `hidden` of operand 1 and 32 as axis `half` of operand 2
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Half : axis<"half", 32> {};

int main() {
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{2}, Seq{3});
  tensor h = zeros<f32, Half>();
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch seq hidden=k, half=k -> batch seq">(x, h);
#else
  tensor y = einsum<"batch seq hidden, half -> batch seq">(x, h);
#endif
}
