// expect: diagonal: axis `hidden` has extent 64, axis `half` has extent 32
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct Diag : axis<"diag"> {};
struct Half : axis<"half", 32> {};

int main() {
  tensor g = zeros<f32, Hidden, prime<Hidden>>();
#ifdef RICCI_MISTAKE
  tensor y = diagonal<Hidden, prime<Hidden>, Half>(g);
#else
  tensor y = diagonal<Hidden, prime<Hidden>, Diag>(g);
#endif
}
