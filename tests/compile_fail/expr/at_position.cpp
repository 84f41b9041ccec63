// expect: at: the position along axis `hidden` is neither an integer nor a value of that axis
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 64> {};

int main() {
  tensor a = zeros<f32, Batch, Hidden>(Batch{2});
#ifdef RICCI_MISTAKE
  tensor y = at<Hidden>(a, 0.5);
#else
  tensor y = at<Hidden>(a, 0);
#endif
}
