#include <doctest/doctest.h>

#include <ricci/plan/cost_of.hpp>
#include <ricci/plan/explain.hpp>
#include <ricci/ricci.hpp>

#include <sstream>

// Costs as polynomials, evaluated where explain sees the extents themselves.
namespace {

using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Key : axis<"key"> {};
struct Chunk : axis<"chunk"> {};
struct Within : axis<"within", 4> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 96> {};
struct Heads : axis<"heads", 4> {};
struct HeadDim : axis<"head_dim", 16> {};
struct Pair : axis<"pair"> {};

struct operands {
  tensor<f32, Batch, Seq, Hidden> x;
  tensor<f32, Hidden, Mlp> w;
  tensor<f32, Mlp> b;
  operands(int batch, int seq)
      : x(random::uniform<f32, Batch, Seq, Hidden>(random::key(1), Batch{batch}, Seq{seq})),
        w(random::uniform<f32, Hidden, Mlp>(random::key(2))),
        b(random::uniform<f32, Mlp>(random::key(3))) {}
};

template <class E> void check_cost(E const& e, int batch, int seq) {
  constexpr auto const& cost = cost_of<E>;
  explanation const seen = explain(e);
  CAPTURE(seen.text());
  CAPTURE(cost.operations.text());
  CAPTURE(cost.bytes.text());
  CHECK(cost.operations.at(Batch{batch}, Seq{seq}) == seen.operations());
  CHECK(cost.temporary_bytes.at(Batch{batch}, Seq{seq}) == seen.temporary_bytes());
  CHECK(cost.bytes.at(Seq{seq}, Batch{batch}) == seen.bytes());
}

}  // namespace

TEST_CASE("cost_of: polynomials in the dynamic axes are what explain sees") {
  for (int batch : {1, 2, 3, 8})
    for (int seq : {4, 8, 20, 64}) {
      CAPTURE(batch);
      CAPTURE(seq);
      operands const o(batch, seq);
      check_cost(gelu(einsum<"... hidden, hidden mlp -> ... mlp">(o.x, o.w) + o.b), batch, seq);
      check_cost(softmax<Hidden>(o.x * 2), batch, seq);
      check_cost(mean(square(o.x)), batch, seq);
      check_cost(
          rearrange<"batch seq=(chunk within) hidden -> chunk batch within hidden", Chunk, Within>(
              exp(o.x)),
          batch, seq);
      check_cost(reduce<op::max, "batch seq=(chunk 4) hidden -> batch chunk hidden", Chunk>(o.x),
                 batch, seq);
      check_cost(concat<Seq>(exp(o.x), o.x), batch, seq);
      check_cost(rearrange<"batch seq hidden=(heads head_dim) -> batch heads seq head_dim", Heads,
                           HeadDim>(exp(o.x)) +
                     1,
                 batch, seq);
    }
}

TEST_CASE("cost_of: prints as a polynomial") {
  operands const o(1, 1);
  auto const e = einsum<"... hidden, hidden mlp -> ... mlp">(o.x, o.w);
  using type = decltype(e);
  CHECK(cost_of<type>.operations.text() == "12288 batch seq");
  CHECK(cost_of<type>.bytes.text() == "640 batch seq + 24576");
  std::ostringstream out;
  out << cost_of<type>.operations;
  CHECK(out.str() == "12288 batch seq");
}

TEST_CASE("cost_of: an axis made by value is given too") {
  operands const o(2, 3);
  auto const e = broadcast<Pair>(exp(o.b), Pair{5}) * 2.0f;
  CHECK(cost_of<decltype(e)>.operations.at(Pair{5}) == explain(e).operations());
  CHECK(cost_of<decltype(e)>.operations.at(Pair{5}) == 96 + 5 * 96);
}

TEST_CASE("cost_of: what does not fit 63 bits is the largest number") {
  using X = tensor<f32, Batch, Seq, Hidden>;
  using type = decltype(std::declval<X const&>() + std::declval<X const&>());
  CHECK(cost_of<type>.operations.at(Batch{1LL << 40}, Seq{1LL << 40}) == INT64_MAX);
}

TEST_CASE("cost_of: .at is what runs, also where the order depends on the extents") {
  struct A : axis<"a"> {};
  struct B : axis<"b"> {};
  struct C : axis<"c"> {};
  struct D : axis<"d"> {};
  tensor x = ones<f32, A, B>(A{300}, B{2});
  tensor y = ones<f32, B, C>(B{2}, C{300});
  tensor z = ones<f32, C, D>(C{300}, D{2});
  auto const e = einsum<"a b, b c, c d -> a d">(x, y, z);
  constexpr auto const& cost = cost_of<decltype(e)>;
  explanation const seen = explain(e);
  CHECK(seen.operations() == 2 * (2 * 300 * 2 + 300 * 2 * 2));
  CHECK(cost.operations.at(A{300}, B{2}, C{300}, D{2}) == seen.operations());
  CHECK(cost.bytes.at(A{300}, B{2}, C{300}, D{2}) == seen.bytes());
  CHECK(cost.temporary_bytes.at(A{300}, B{2}, C{300}, D{2}) == seen.temporary_bytes());
  CHECK_THROWS_AS(cost.operations.at(A{-3}, B{2}, C{300}, D{2}), shape_error);
}

TEST_CASE("plan_of, cost_of: constants that stand in a name are tensors like others") {
  struct A : axis<"a", 100> {};
  struct B : axis<"b", 1000> {};
  tensor x = ones<f32, A, B>();
  auto const e = einsum<"a b -> a">(x);
  explanation const seen = explain(e);
  CHECK(plan_of<decltype(e)>.launches == 1);
  CHECK(seen.launches() == 1);
  CHECK(seen.temporary_bytes() == 0);
  CHECK(cost_of<decltype(e)>.bytes == seen.bytes());
  // A view of one element reads that element.
  tensor s = full<f32>(2);
  auto const wide = broadcast<A, B>(s);
  auto const sums = einsum<"a b -> a">(wide);
  CHECK(explain(sums).temporary_bytes() == 0);
  tensor r = sums;
  CHECK(r(A{99}) == 2000);
}

TEST_CASE("plan_of, cost_of: the parts of a split are looked up before they are divided") {
  struct Z : axis<"z", 0> {};
  struct Z3 : axis<"z3"> {};
  struct M : axis<"m", 3> {};
  tensor z = zeros<f32, Z>();
  tensor z3 = zeros<f32, Z3>(Z3{0});
  tensor m = ones<f32, M>();
  auto const e = einsum<"z=i, z3=(i m), m -> m">(z, z3, m);
  CHECK(explain(e).launches() == plan_of<decltype(e)>.launches);
  CHECK(plan_of<decltype(e)>.result_bytes == 12);
  tensor r = e;
  CHECK(r(M{2}) == 0);
}
