#include <ricci/ricci.hpp>

#include "row.hpp"

int main() {
  using namespace ricci;
  tensor doubled = twice(iota<i32, Row>(Row{3}));
  return doubled(Row{2}) == 4 ? 0 : 1;
}
