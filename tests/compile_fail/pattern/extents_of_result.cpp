// expect: einsum: index `hidden` has extent 64 as axis `hidden` of operand 1 and 32 as axis `half` of the result
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};
struct Query : axis<"query"> {};
struct Half : axis<"half", 32> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = einsum<"batch hidden -> half=hidden", Half>(a);
#else
  tensor y = einsum<"batch hidden -> query=hidden", Query>(a);
#endif
}
