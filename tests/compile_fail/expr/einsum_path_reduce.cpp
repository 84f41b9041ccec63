// expect: reduce: `lowering` and `path` types after the pattern steer an einsum, nothing else
#include <ricci/ricci.hpp>
using namespace ricci;

struct I : axis<"i", 8> {};
struct J : axis<"j"> {};
struct K : axis<"k", 4> {};
struct L : axis<"l"> {};

int main() {
  tensor a = zeros<f32, I, J>(J{3});
  tensor b = zeros<f32, J, K>(J{3});
  tensor c = zeros<f32, K, L>(L{2});
#ifdef RICCI_MISTAKE
  tensor y = reduce<op::sum, "i j -> j", path<0, 1>>(a);
#else
  tensor y = reduce<op::sum, "i j -> j">(a);
#endif
}
