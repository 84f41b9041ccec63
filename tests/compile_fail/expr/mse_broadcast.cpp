// expect: mse: operand 1 has axes [batch], operand 2 has [batch one]: losses do not broadcast, their operands have the same axes
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct One : axis<"one"> {};

int main() {
  tensor b = zeros<f32, Batch>(Batch{2});
  tensor t = zeros<f32, Batch, One>(Batch{2}, One{1});
#ifdef RICCI_MISTAKE
  tensor y = mse(b, t);
#else
  tensor y = mse(b, at<One>(t, 0));
#endif
}
