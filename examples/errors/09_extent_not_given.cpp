// A dynamic extent is not given
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{8});
#else
  tensor x = zeros<f32, Batch, Seq, Hidden>(Batch{8}, Seq{128});
#endif
}
