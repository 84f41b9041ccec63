// expect: diagonal: axis `hidden` has extent 64, axis `mlp` has extent 256
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};
struct Diag : axis<"diag"> {};

int main() {
  tensor w = zeros<f32, Hidden, Mlp>();
#ifdef RICCI_MISTAKE
  tensor y = diagonal<Hidden, Mlp, Diag>(w);
#else
  tensor y = diagonal<Hidden, prime<Hidden>, Diag>(zeros<f32, Hidden, prime<Hidden>>());
#endif
}
