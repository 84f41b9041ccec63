// expect: rearrange: axis `token` of extent 173 does not divide into chunks of 2
#include <ricci/ricci.hpp>
using namespace ricci;

struct Chunk : axis<"chunk", 2> {};
struct Rest : axis<"rest"> {};
struct Token : axis<"token", 173> {};

int main() {
  tensor x = zeros<f32, Token>();
#ifdef RICCI_MISTAKE
  tensor y = rearrange<"token=(rest chunk) -> rest chunk", Rest, Chunk>(x);
#else
  tensor y = rearrange<"token=rest -> rest", Rest>(x);
#endif
}
