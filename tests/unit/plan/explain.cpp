#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <ricci/plan/explain.hpp>
#include <ricci/ricci.hpp>

#include <sstream>

namespace {

using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Mlp : axis<"mlp", 256> {};
struct Heads : axis<"heads", 4> {};
struct HeadDim : axis<"head_dim", 16> {};

struct operands {
  tensor<f32, Batch, Seq, Hidden> x =
      random::uniform<f32, Batch, Seq, Hidden>(random::key(1), Batch{8}, Seq{32});
  tensor<f32, Hidden, Mlp> w = random::uniform<f32, Hidden, Mlp>(random::key(2));
  tensor<f32, Mlp> b = random::uniform<f32, Mlp>(random::key(3));
  auto linear() const { return gelu(einsum<"... hidden, hidden mlp -> ... mlp">(x, w) + b); }
};

bool has(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("explain: any name, const or not, and nothing is evaluated") {
  operands const o;
  auto e = o.linear();
  auto const f = o.linear();
  std::int64_t const before = graph::counted().statements;
  CHECK(explain(e).gemms() == 1);
  CHECK(explain(f).gemms() == 1);
  CHECK(explain(o.linear()).gemms() == 1);
  CHECK(explain(o.x).step_count() == 0);
  CHECK(explain(permute<Seq, Batch, Hidden>(o.x)).step_count() == 0);
  CHECK(graph::counted().statements == before);
  CHECK(!graph::is_evaluated(e.handle()));
  tensor y = std::move(e);
  CHECK(explain(y).launches() == 0);
}

TEST_CASE("explain: what a const name evaluated is a leaf") {
  operands const o;
  auto const e = o.linear();
  auto const twice = e * 2.0f;
  CHECK(explain(twice).gemms() == 0);
  CHECK(explain(twice).loops() == 1);
}

TEST_CASE("explain: an empty tensor throws") {
  tensor<f32, Batch> const empty;
  CHECK_THROWS_AS((void)explain(empty), value_error);
}

TEST_CASE("explain: the text says what runs") {
  operands const o;
  std::ostringstream out;
  out << explain(o.linear());
  std::string const text = out.str();
  CAPTURE(text);
  CHECK(has(text, "statement  [batch 8, seq 32, mlp 256] f32"));
  CHECK(has(text, "gemm  m = batch seq (256), n = mlp (256), k = hidden (64)"));
  CHECK(has(text, "of [batch seq hidden] and [hidden mlp]; then + [mlp], gelu"));
  CHECK(has(text, "oneDNN"));
  CHECK(has(text, "chosen among"));
  CHECK(has(text, "total  1 launch, 1 gemm, 0 copies"));
  CHECK(has(text, "temporary 0 B"));
}

TEST_CASE("explain: names of indices that are factors, of results, of intermediates") {
  operands const o;
  CHECK(has(
      explain(reduce<op::sum, "batch seq hidden=(heads head_dim) -> batch heads seq", Heads>(o.x))
          .text(),
      "sum over"));
  CHECK(has(explain(einsum<"batch seq hidden, hidden mlp, mlp -> seq batch">(o.x, o.w, o.b)).text(),
            "[hidden]"));
  CHECK(has(explain(einsum<"batch seq hidden, hidden hidden' -> batch seq hidden=hidden'">(
                        o.x, random::uniform<f32, Hidden, prime<Hidden>>(random::key(1))))
                .text(),
            "n = hidden' (64), k = hidden (64)"));
}

TEST_CASE("explain: JSON has the exact numbers, a drawing a box a step") {
  operands const o;
  auto const e = softmax<Mlp>(o.linear() * 2.0f);
  explanation const plan = explain(e);
  nlohmann::json const all = nlohmann::json::parse(plan.json());
  CHECK(all["totals"]["operations"] == plan.operations());
  CHECK(all["totals"]["bytes"] == plan.bytes());
  CHECK(all["totals"]["temporary_bytes"] == plan.temporary_bytes());
  REQUIRE(static_cast<int>(all["steps"].size()) == plan.step_count());
  CHECK(all["steps"][0]["kind"] == "gemm");
  CHECK(all["steps"][0]["m"] == 256);
  CHECK(all["steps"][0]["fused"] == "+ [mlp], gelu");
  CHECK(all["steps"][0]["candidates"].size() >= 2);
  CHECK(all["value"]["axes"][2]["name"] == "mlp");
  std::string const drawing = plan.dot();
  for (int i = 1; i <= plan.step_count(); ++i)
    CHECK(has(drawing, ("step" + std::to_string(i) + " [shape=box").c_str()));
  CHECK(has(drawing, "batch seq hidden\\n8 x 32 x 64"));
}

TEST_CASE("explain: extents of 0 and 1") {
  auto const none = random::uniform<f32, Batch, Seq, Hidden>(random::key(1), Batch{0}, Seq{1});
  operands const o;
  auto const e = gelu(einsum<"... hidden, hidden mlp -> ... mlp">(none, o.w) + o.b);
  CHECK(explain(e).operations() == 0);
  CHECK(explain(e).gemms() == 0);
  CHECK(explain(sum(none)).operations() == 0);
  CHECK(explain(einsum<"... hidden, hidden mlp -> mlp">(none, o.w)).gemms() == 0);
}

TEST_CASE("explain: a long chain of operations") {
  tensor const x = random::uniform<f32, Batch>(random::key(1), Batch{16});
  graph::handle chain = x.handle();
  for (int i = 0; i < 20000; ++i) {
    graph::handle const operands[] = {std::move(chain)};
    chain = graph::pointwise("test", opcode::negate, operands, 1);
  }
  explanation const plan(chain);
  std::int64_t const before = graph::counted().loops;
  graph::evaluate(chain);
  CHECK(plan.loops() == graph::counted().loops - before);
  CHECK(plan.operations() == 16 * 20000);
}
