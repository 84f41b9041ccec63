// expect: tensor: 25 axes; a tensor has at most 24
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Heads : axis<"heads", 4> {};
struct Query : axis<"query"> {};
struct Key : axis<"key"> {};
struct Row : axis<"row"> {};
struct Col : axis<"col"> {};
struct Diag : axis<"diag"> {};
struct H : axis<"h"> {};
struct W : axis<"w"> {};
struct Rest : axis<"rest"> {};
struct Models : axis<"models"> {};
struct Model : axis<"model"> {};
struct Part : axis<"part"> {};
struct Half : axis<"half", 32> {};
struct Wide : axis<"wide", 128> {};
struct Three : axis<"three", 3> {};
struct Pair : axis<"pair", 2> {};
struct One : axis<"one"> {};

template <int N> struct primed : primed<N - 1> { using type = prime<typename primed<N - 1>::type>; };
template <> struct primed<0> { using type = Hidden; };
template <int N> using P = typename primed<N>::type;

int main() {
#ifdef RICCI_MISTAKE
  tensor<f32, P<5>, P<4>, P<3>, P<2>, P<1>, P<0>, Query, Batch, Seq, Heads, Key, Row, Col, H, W, Rest, Part, One, Model,
         Models, Diag, Half, Wide, Three, Pair> x;
#else
  tensor<f32, P<4>, P<3>, P<2>, P<1>, P<0>, Query, Batch, Seq, Heads, Key, Row, Col, H, W, Rest, Part, One, Model,
         Models, Diag, Half, Wide, Three, Pair> x;
#endif
}
