// Everything can be said beside `using namespace std`, but any, stack and slice where <any>,
// <stack> and <valarray> are included.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

#include "tests/unit/expr/values.hpp"

using namespace std;
using namespace ricci;

namespace {
struct Row : axis<"row"> {};
struct Col : axis<"col"> {};
auto elements(auto const& x) { return ricci::testing::numbers(x); }
}  // namespace

TEST_CASE("functions of both names") {
  tensor x = from<f64, Row, Col>({1, 2, 3, 4}, Row{2}, Col{2});
  tensor const c = x;
  CHECK(exp(log(x)).shape() == c.shape());
  CHECK(elements(abs(x) + sqrt(c * c)) == vector<double>{2, 4, 6, 8});
  CHECK(elements(sin(x) * 0 + cos(c) * 0 + tanh(x) * 0 + erf(c) * 0) == vector<double>(4));
  CHECK(elements(pow(x, 2))[1] == doctest::Approx(4));
  CHECK(elements(pow(c, c))[1] == doctest::Approx(4));
  CHECK(elements(max<Row>(x)) == vector<double>{3, 4});
  CHECK(elements(min<Row>(c)) == vector<double>{1, 2});
  CHECK(elements(reverse<Col>(x)) == vector<double>{2, 1, 4, 3});
  CHECK(elements(rename<Row, Col>(at<Col>(x, 0))) == vector<double>{1, 3});
  CHECK(elements(reduce<op::max, "row col -> row">(x)) == vector<double>{2, 4});
  CHECK(elements(clamp(x, 2, 3)) == vector<double>{2, 2, 3, 3});
  CHECK(elements(clamp(c, c, c)) == elements(c));
  CHECK(elements(clamp(x, x, x)) == elements(c));
  CHECK(elements(minimum(c, c) + maximum(c, c)) == vector<double>{2, 4, 6, 8});
  CHECK(elements(where(c > 2, c, c * 0)) == vector<double>{0, 0, 3, 4});
  CHECK(elements(prod<Row>(c)) == vector<double>{3, 8});
  CHECK(ricci::all(c == c).item());
  CHECK(elements(take<Row>(c, iota<i32, Row>(Row{1}))) == vector<double>{1, 2});
  CHECK(elements(concat<Row>(c, c)).size() == 8);
  CHECK(elements(to<f32>(c)) == elements(c));
  CHECK(clamp(5, 1, 3) == 3);
  CHECK(max(1, 2) == 2);
}
