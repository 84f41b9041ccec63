#include <doctest/doctest.h>

#include <ricci/plan/cost_of.hpp>
#include <ricci/plan/explain.hpp>
#include <ricci/plan/plan_of.hpp>
#include <ricci/ricci.hpp>

// A plan made from an expression's type and one made from its graph are the same.
namespace {

using namespace ricci;

struct Batch : axis<"batch", 4> {};
struct Seq : axis<"seq", 40> {};
struct Key : axis<"key", 40> {};
struct Hidden : axis<"hidden", 96> {};
struct Qkv : axis<"qkv", 288> {};
struct Which : axis<"which", 3> {};
struct Heads : axis<"heads", 6> {};
struct HeadDim : axis<"head_dim", 16> {};
struct Mlp : axis<"mlp", 128> {};
struct Vocab : axis<"vocab", 50> {};
struct Pair : axis<"pair", 2> {};
struct Wide : axis<"wide", 192> {};
struct Half : axis<"half", 48> {};
struct Row : axis<"row", 48> {};

template <class T, class... A> tensor<T, A...> some() {
  if constexpr (is_floating_v<T>)
    return random::uniform<T, A...>(random::key(3));
  else
    return eval(full<T, A...>(T(1)) + T(0));
}

template <class E> void check_same(char const* what, E&& e) {
  CAPTURE(what);
  constexpr auto const& typed = plan_of<std::remove_cvref_t<E>>;
  constexpr auto const& cost = cost_of<std::remove_cvref_t<E>>;
  explanation const seen = explain(e);
  CAPTURE(seen.text());
  REQUIRE(typed.step_count == seen.step_count());
  for (int i = 0; i < typed.step_count; ++i) {
    CAPTURE(i);
    plan_step const& a = typed.steps[i];
    plan_step const& b = seen.step(i);
    CHECK(a.kind == b.kind);
    CHECK(a.lowering == b.lowering);
    CHECK(a.batch == b.batch);
    CHECK(a.m == b.m);
    CHECK(a.n == b.n);
    CHECK(a.k == b.k);
    CHECK(a.operations == b.operations);
    CHECK(a.bytes_read == b.bytes_read);
    CHECK(a.bytes_written == b.bytes_written);
    CHECK(a.live_bytes == b.live_bytes);
  }
  CHECK(typed.gemms == seen.gemms());
  CHECK(typed.copies == seen.copies());
  CHECK(typed.launches == seen.launches());
  CHECK(typed.temporary_bytes == seen.temporary_bytes());
  CHECK(typed.result_bytes == seen.totals().result_bytes);
  CHECK(cost.operations == seen.operations());
  CHECK(cost.bytes == seen.bytes());
}

}  // namespace

TEST_CASE("plan_of: types and graphs agree: elementwise, reductions, views") {
  tensor const x = some<f32, Batch, Seq, Hidden>();
  tensor const b = some<f32, Hidden>();
  tensor const h = some<f16, Batch, Hidden>();
  tensor const s = some<f32, Seq>();
  tensor const m = some<f32, Mlp>();
  tensor const y = some<f32, Row, Half>();
  check_same("loop", gelu(x * 2 + b));
  check_same("mask", where(x > 0.5f, b, 0.0f));
  check_same("clamp", clamp(x, 0.0f, 1.0f));
  check_same("cast", to<f32>(h) + 1.0f);
  check_same("sum", sum<Seq>(exp(x) * b));
  check_same("mean", mean(square(x)));
  check_same("logsumexp", logsumexp<Hidden>(x));
  check_same("argmax", argmax<Hidden>(x + b));
  check_same("softmax of a temporary", softmax<Hidden>(x * 2));
  check_same("softmax of a tensor", log_softmax<Seq>(x));
  check_same("norm", layer_norm<Hidden>(x + b, b, b));
  check_same("norm of an inner axis", rms_norm<Seq>(exp(x), s));
  check_same("cumsum", cumsum<Seq>(x));
  check_same("outer", outer(b, m));
  check_same("iota", iota<i32, Hidden>());
  check_same("iota of floats", iota<f32, Hidden>() * b);
  check_same("view of a loop", permute<Hidden, Batch, Seq>(exp(x)));
  check_same("views of a loop", reverse<Seq>(at<Batch>(exp(x), 2)) + b);
  check_same("slice", slice<Hidden, Half>(exp(x), 3) * 2);
  check_same("slice with a step", sum<Half>(slice<Hidden, Half>(exp(x), 0, 48, 2)));
  check_same("diagonal", diagonal<Row, Half, Half>(exp(rename<Half, Half>(y))));
  check_same("broadcast", broadcast<Pair>(exp(b)) * 2);
}

TEST_CASE("plan_of: types and graphs agree: contractions") {
  tensor const x = some<f32, Batch, Seq, Hidden>();
  tensor const w = some<f32, Hidden, Mlp>();
  tensor const wq = some<f32, Hidden, Qkv>();
  tensor const b = some<f32, Mlp>();
  tensor const q = some<f32, Batch, Heads, Seq, HeadDim>();
  tensor const a = some<f32, Row, Half>();
  check_same("gemm", einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, w));
  check_same("epilogue", gelu(einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, w) + b));
  check_same("scaled", einsum<"... hidden, hidden mlp -> ... mlp">(x, w) * 0.5f - 1.0f);
  check_same("residual", x + einsum<"... mlp, hidden mlp -> ... hidden">(
                                 gelu(einsum<"... hidden, hidden mlp -> ... mlp">(x, w) + b), w));
  check_same("bf16",
             to<f32>(einsum<"... hidden, hidden mlp -> ... mlp">(to<bf16>(x), to<bf16>(w))));
  check_same("f64", einsum<"... hidden, hidden mlp -> ... mlp">(to<f64>(x), to<f64>(w)));
  check_same("transposed result", einsum<"batch seq hidden, hidden mlp -> mlp seq batch">(x, w));
  check_same("summed first", einsum<"batch seq hidden, hidden mlp -> seq mlp">(x, w));
  check_same("scores",
             einsum<"batch heads seq head_dim, batch heads key head_dim -> batch heads seq key">(
                 q, rename<Seq, Key>(q)));
  check_same("dot", dot<Hidden>(x, x));
  check_same("inner", dot<Batch, Seq, Hidden>(x, x));
  check_same("outer", einsum<"row half, mlp -> row mlp half">(a, b));
  check_same("matrix-vector", einsum<"hidden mlp, mlp -> hidden">(w, b));
  check_same("diagonal", einsum<"row=i half=i -> row=i">(a));
  check_same("trace", einsum<"row=i half=i -> ">(a));
  check_same("transpose", einsum<"row half -> half row">(a));
  check_same(
      "split",
      einsum<
          "batch seq hidden, hidden qkv=(which heads head_dim) -> which batch heads seq head_dim",
          Which, Heads, HeadDim>(x, wq));
  check_same("chain", einsum<"batch seq hidden, hidden mlp, mlp -> batch seq">(x, w, b));
  check_same("path",
             einsum<"batch seq hidden, hidden mlp, mlp -> batch seq", path<0, 1, 0, 1>>(x, w, b));
  check_same("forced",
             einsum<"batch seq hidden, hidden mlp -> batch seq mlp", lowering::pack_gemm>(x, w));
  check_same("forced loops",
             einsum<"batch seq hidden, hidden mlp -> batch seq mlp", lowering::loops>(x, w));
}

TEST_CASE("plan_of: types and graphs agree: rearrange, reduce, joins, kernels") {
  tensor const x = some<f32, Batch, Seq, Hidden>();
  tensor const q = some<f32, Batch, Heads, Seq, HeadDim>();
  tensor const x2 = some<f32, Batch, Seq, Hidden>();
  tensor const table = some<f32, Vocab, Hidden>();
  tensor const ids = some<i32, Batch, Seq>();
  check_same("copy",
             rearrange<"batch heads seq head_dim -> batch seq hidden=(heads head_dim)", Hidden>(q));
  check_same(
      "a view",
      rearrange<"batch seq hidden=(heads head_dim) -> batch heads seq head_dim", Heads, HeadDim>(
          exp(x)));
  check_same(
      "copy of a loop",
      rearrange<"batch heads seq head_dim -> batch seq hidden=(heads head_dim)", Hidden>(exp(q)));
  check_same("repeat", repeat<"batch seq hidden -> batch pair seq hidden", Pair>(exp(x)));
  check_same("repeat a number", repeat<"batch seq hidden -> batch seq wide=(hidden 2)", Wide>(x));
  check_same("pool", reduce<op::max, "batch seq hidden=(half 2) -> batch half seq", Half>(x));
  check_same("reduce in place", reduce<op::sum, "batch seq hidden -> batch hidden">(exp(x)));
  check_same("take", take<Vocab>(table, ids) * 2.0f);
  check_same("concat", concat<Hidden, Wide>(x, exp(x)));
  check_same("stack", stack<Pair>(x, permute<Seq, Batch, Hidden>(x)));
  check_same("cross entropy",
             cross_entropy<Vocab>(
                 einsum<"batch seq hidden, vocab hidden -> batch seq vocab">(x, table), ids));
  check_same("attention",
             attention<Seq, Key, HeadDim>(q, rename<Seq, Key>(q), rename<Seq, Key>(q)));
  tensor const p = some<f32, Batch, Seq, Heads, HeadDim>();
  check_same("attention of views",
             attention<Seq, Key, HeadDim>(p, rename<Seq, Key>(p), rename<Seq, Key>(p)) * 2.0f);
  check_same("a tensor", x);
  check_same("view", permute<Seq, Hidden, Batch>(x));
  check_same("mse", mse(exp(x), x2 * 2.0f));
}
