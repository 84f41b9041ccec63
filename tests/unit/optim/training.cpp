// Small training runs: the same bits at any thread count, and they learn.
#include "tests/unit/expr/values.hpp"

#include <ricci/exec/threads.hpp>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq", 12> {};
struct Width : axis<"width", 32> {};
struct Inner : axis<"inner", 64> {};
struct Heads : axis<"heads", 4> {};
struct HeadDim : axis<"head_dim", 8> {};
struct Vocab : axis<"vocab", 19> {};

struct Model {
  using embedding_type = nn::embedding<f32, Vocab, Width>;
  using norm_type = nn::layer_norm<f32, Width>;
  using attention_type = nn::attention<f32, Seq, Width, Heads, HeadDim>;
  using mlp_type = nn::gelu_mlp<f32, Width, Inner>;
  BOOST_HANA_DEFINE_STRUCT(Model, (embedding_type, tokens), (norm_type, first),
                           (attention_type, mix), (norm_type, second), (mlp_type, mlp),
                           (norm_type, last));
  auto operator()(auto const& ids, random::key key) const {
    tensor x = tokens(ids);
    tensor y = x + mix(first(x));
    tensor z = y + nn::dropout(mlp(second(y)), 0.1, key.fold("dropout"));
    return einsum<"batch seq width, vocab width -> batch seq vocab">(last(z), tokens.weight);
  }
};

/// Predicts the next position's token, which is the one seven on.
auto batch_of(int step) {
  tensor start = to<i32>(random::uniform<f32, Batch>(random::key(5).fold(step), Batch{8}) * 19);
  tensor whole = broadcast<Batch>(iota<i32, Seq>() * 7, Batch{8}) + start;
  tensor ids = whole - whole / 19 * 19;
  tensor next = (ids + 7) - (ids + 7) / 19 * 19;
  return std::pair(ids, next);
}

struct run {
  std::vector<f32> losses;
  std::vector<f32> weights;
};
run train(int steps) {
  Model model;
  initialize(model, random::key(1));
  model.tokens.weight = model.tokens.weight * 0.1;
  optim::adamw optimizer({.weight_decay = 0.01});
  run result;
  for (int step = 0; step < steps; ++step) {
    auto const [ids, next] = batch_of(step);
    auto [loss, g] = value_and_grad(
        [step](auto const& m, auto const& in, auto const& out) {
          return cross_entropy<Vocab>(m(in, random::key(2).fold("step", step)), out);
        },
        model, ids, next);
    double const scale = optim::clip_scale(optim::global_norm(g), 1);
    optimizer.step(model, g, 1e-2, scale);
    result.losses.push_back(loss.item());
  }
  for_each_parameter(model, [&](auto const&, auto const& leaf) {
    for (f32 const v : leaf.values()) result.weights.push_back(v);
  });
  return result;
}

}  // namespace

TEST_CASE("the same bits at 1, 2 and 3 threads, and twice") {
  int const before = threads();
  set_threads(1);
  run const one = train(6);
  for (int n : {1, 2, 3}) {
    set_threads(n);
    run const again = train(6);
    CHECK(again.losses == one.losses);
    CHECK(again.weights == one.weights);
  }
  set_threads(before);
}

TEST_CASE("it learns") {
  run const r = train(60);
  CHECK(r.losses.front() > 2.5f);
  CHECK(r.losses.back() < 0.5f * r.losses.front());
}
