// expect: take: axis `hidden` stands twice
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};
struct Vocab : axis<"vocab", 100> {};
struct Half : axis<"half", 32> {};

int main() {
  tensor t = zeros<f32, Vocab, Hidden>();
#ifdef RICCI_MISTAKE
  tensor y = take<Vocab>(t, zeros<i32, Hidden>());
#else
  tensor y = take<Vocab>(t, zeros<i32, Half>());
#endif
}
