// embedding, layer_norm, rms_norm, gelu_mlp, attention, dropout: against the operations they are
// made of.
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Width : axis<"width", 8> {};
struct Inner : axis<"inner", 12> {};
struct Heads : axis<"heads", 2> {};
struct HeadDim : axis<"head_dim", 4> {};
struct Vocab : axis<"vocab", 10> {};

void check_near(doubles const& a, doubles const& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= tolerance);
}
auto input() { return random::normal<f64, Batch, Seq, Width>(random::key(2), Batch{2}, Seq{5}); }

}  // namespace

TEST_CASE("embedding") {
  nn::embedding<f32, Vocab, Width> table;
  initialize(table, random::key(1));
  static_assert(same<decltype(table.weight), tensor<f32, Vocab, Width>>);
  tensor ids = from<i32, Batch, Seq>({3, 9, 0, 3}, Batch{2}, Seq{2});
  tensor y = table(ids);
  static_assert(same<decltype(y), tensor<f32, Batch, Seq, Width>>);
  CHECK(y(Batch{1}, Seq{1}, Width{5}) == table.weight(Vocab{3}, Width{5}));
  CHECK_THROWS_AS((void)tensor(table(full<i32>(10))), index_error);
  double squares = 0;
  for (double const v : numbers(table.weight)) squares += v * v / 80;
  CHECK(std::sqrt(squares) == doctest::Approx(1).epsilon(0.25));
}

TEST_CASE("norms start as plain normalizations") {
  nn::layer_norm<f64, Width> layer;
  nn::rms_norm<f64, Width> rms;
  initialize(layer, random::key(1));
  initialize(rms, random::key(1));
  CHECK(numbers(layer.weight) == doubles(8, 1));
  CHECK(numbers(layer.bias) == doubles(8, 0));
  CHECK(numbers(rms.weight) == doubles(8, 1));
  tensor x = input();
  check_near(numbers(layer(x)),
             numbers(layer_norm<Width>(x, ones<f64, Width>(), zeros<f64, Width>(), 1e-5)), 0);
  check_near(numbers(rms(x)), numbers(rms_norm<Width>(x, ones<f64, Width>(), 1e-6)), 0);
  static_assert(same<decltype(tensor(layer(x))), tensor<f64, Batch, Seq, Width>>);
  layer.epsilon = 1;
  check_near(numbers(layer(x)),
             numbers(layer_norm<Width>(x, ones<f64, Width>(), zeros<f64, Width>(), 1)), 0);
}

TEST_CASE("gelu_mlp") {
  nn::gelu_mlp<f64, Width, Inner> mlp;
  initialize(mlp, random::key(1));
  tensor x = input();
  tensor y = mlp(x);
  static_assert(same<decltype(y), tensor<f64, Batch, Seq, Width>>);
  tensor h =
      gelu_tanh(einsum<"... width, width inner -> ... inner">(x, mlp.up.weight) + mlp.up.bias);
  check_near(
      numbers(y),
      numbers(einsum<"... inner, inner width -> ... width">(h, mlp.down.weight) + mlp.down.bias),
      1e-12);
}

TEST_CASE("attention against its composition") {
  nn::attention<f64, Seq, Width, Heads, HeadDim> layer;
  initialize(layer, random::key(1));
  tensor x = input();
  for (mask const seen : {mask::causal, mask::none}) {
    layer.seen = seen;
    tensor y = layer(x);
    static_assert(same<decltype(y), tensor<f64, Batch, Seq, Width>>);
    tensor qkv = einsum<"... width, width qkv heads head_dim -> ... qkv heads head_dim">(
                     x, layer.qkv.weight) +
                 layer.qkv.bias;
    using Key = prime<Seq>;
    tensor scores =
        einsum<"batch seq heads head_dim, batch seq' heads head_dim -> batch heads seq seq'">(
            at<nn::Qkv>(qkv, 0), rename<Seq, Key>(at<nn::Qkv>(qkv, 1))) /
        std::sqrt(4.0);
    if (seen == mask::causal)
      scores = where(broadcast<Seq>(iota<i32, Key>(Key{5}), Seq{5}) <= iota<i32, Seq>(Seq{5}),
                     scores, -infinity);
    tensor mixed =
        einsum<"batch heads seq seq', batch seq' heads head_dim -> batch seq heads head_dim">(
            softmax<Key>(scores), rename<Seq, Key>(at<nn::Qkv>(qkv, 2)));
    check_near(numbers(y),
               numbers(einsum<"... heads head_dim, heads head_dim width -> ... width">(
                           mixed, layer.out.weight) +
                       layer.out.bias),
               1e-12);
  }
  // Later positions do not change earlier ones under the causal mask.
  layer.seen = mask::causal;
  tensor shorter = layer(slice<Seq>(x, 0, 3));
  check_near(numbers(shorter), numbers(slice<Seq>(tensor(layer(x)), 0, 3)), 1e-12);
}

TEST_CASE("dropout: rate, scale, a function of the key alone") {
  tensor x = ones<f32, Batch, Seq>(Batch{100}, Seq{1000});
  tensor y = nn::dropout(x, 0.25, random::key(1));
  static_assert(same<decltype(y), tensor<f32, Batch, Seq>>);
  double kept = 0;
  for (double const v : numbers(y)) {
    CHECK((v == 0 || v == static_cast<double>(1 / 0.75f)));
    kept += v != 0;
  }
  CHECK(kept / 100000 == doctest::Approx(0.75).epsilon(0.01));
  CHECK(list(nn::dropout(x, 0.25, random::key(1))) == list(y));
  CHECK(list(nn::dropout(x, 0.25, random::key(2))) != list(y));
  CHECK(list(nn::dropout(x * 1, 0.25, random::key(1))) == list(y));
  CHECK(list(nn::dropout(x, 0, random::key(1))) == list(x));
  // The scale is not rounded to the narrow dtype, only the result is.
  tensor h = nn::dropout(full<bf16, Batch>(9, Batch{64}), 0.1, random::key(3));
  static_assert(same<decltype(h), tensor<bf16, Batch>>);
  CHECK(max(to<f32>(h)).item() == 10);
  // The gradient goes through the same mask.
  tensor g = grad([](auto const& v) { return sum(nn::dropout(v, 0.25, random::key(1))); }, x);
  CHECK(list(g) == list(y));
  for (double const wrong : {-0.1, 1.0, 1.5, static_cast<double>(not_a_number)})
    CHECK(has(sentence<value_error>([&] { (void)nn::dropout(x, wrong, random::key(1)); }),
              {"dropout", "rate", "[0, 1)"}));
}
