// expect: einsum: `path<-1, 2, 0, 1>` names position -1 in its pair 1, where 3 are left: 0 to 2
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
  tensor y = einsum<"i j, j k, k l -> i l", path<-1, 2, 0, 1>>(a, b, c);
#else
  tensor y = einsum<"i j, j k, k l -> i l", path<0, 2, 0, 1>>(a, b, c);
#endif
}
