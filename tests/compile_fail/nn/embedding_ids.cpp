// expect: take: operand 2 is f32, positions are integers
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Vocab : axis<"vocab", 100> {};

int main() {
  nn::embedding<f32, Vocab, Hidden> table;
  tensor b = zeros<f32, Batch>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = table(b);
#else
  tensor y = table(to<i32>(b));
#endif
}
