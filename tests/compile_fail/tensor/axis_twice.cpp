// expect: tensor: axis `seq` stands twice: the axes of a tensor are all different (a second one of the same extent is `prime<...>`)
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor<f32, Batch, Seq, Seq> scores;
#else
  tensor<f32, Batch, Seq, prime<Seq>> scores;
#endif
}
