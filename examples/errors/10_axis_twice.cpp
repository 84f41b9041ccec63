// A tensor has the same axis twice
#include <ricci/ricci.hpp>
using namespace ricci;

struct Seq : axis<"seq"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor<f32, Seq, Seq> scores;
#else
  tensor<f32, Seq, prime<Seq>> scores;
#endif
}
