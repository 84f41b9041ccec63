#include <ricci/ricci.hpp>

struct Row : ricci::axis<"row"> {};
struct Col : ricci::axis<"col", 3> {};

int main() {
  using namespace ricci;
  tensor x = ones<f32, Row, Col>(Row{2});
  tensor w = ones<f32, Col>();
  tensor y = einsum<"row col, col -> row">(x, w);
  return y(Row{1}) == 3.0f ? 0 : 1;
}
