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

// The plan of the type may choose other copies than that of the extents: operations are the same.
template <class E> void check_cost(E const& e, int batch, int seq) {
  constexpr auto const& cost = cost_of<E>;
  explanation const seen = explain(e);
  CAPTURE(seen.text());
  CAPTURE(cost.operations.text());
  CAPTURE(cost.bytes.text());
  CHECK(cost.operations.at(Batch{batch}, Seq{seq}) == seen.operations());
  CHECK(cost.temporary_bytes.at(Batch{batch}, Seq{seq}) == seen.temporary_bytes());
  if (plan_of<E>.copies == seen.copies())
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
