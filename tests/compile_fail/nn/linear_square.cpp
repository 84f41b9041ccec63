// expect: tensor: axis `hidden` stands twice
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
#ifdef RICCI_MISTAKE
  tensor<f32, Hidden, Hidden> weight;
#else
  tensor<f32, Batch, Hidden> y = nn::linear<f32, Hidden, Hidden>{}(zeros<f32, Batch, Hidden>(Batch{2}));
#endif
}
