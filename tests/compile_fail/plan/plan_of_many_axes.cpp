// expect: plan_of, cost_of: the expression has 17 dynamic axes, at most 16 are planned while compiling; `explain` plans what runs
// lines: 29
#include <ricci/ricci.hpp>
using namespace ricci;

struct A : axis<"a"> {};
struct B : axis<"b"> {};
struct C : axis<"c"> {};
struct D : axis<"d"> {};
struct E : axis<"e"> {};
struct F : axis<"f"> {};
struct G : axis<"g"> {};
struct H : axis<"h"> {};
struct I : axis<"i"> {};
struct J : axis<"j"> {};
struct K : axis<"k"> {};
struct L : axis<"l"> {};
struct M : axis<"m"> {};
struct N : axis<"n"> {};
struct O : axis<"o"> {};
struct P : axis<"p"> {};
struct Q : axis<"q"> {};

int main() {
  tensor x = zeros<f32, A, B, C, D, E, F, G, H, I>(A{1}, B{1}, C{1}, D{1}, E{1}, F{1}, G{1}, H{1}, I{1});
  tensor y = zeros<f32, I, J, K, L, M, N, O, P, Q>(I{1}, J{1}, K{1}, L{1}, M{1}, N{1}, O{1}, P{1}, Q{1});
  auto e = einsum<"a b c d e f g h i, i j k l m n o p q -> a q">(x, y);
#ifdef RICCI_MISTAKE
  return plan_of<decltype(e)>.copies + static_cast<int>(e(A{0}, Q{0}));
#else
  return plan_of<decltype(x)>.copies + static_cast<int>(e(A{0}, Q{0}));
#endif
}
