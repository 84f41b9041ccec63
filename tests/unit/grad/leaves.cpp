// Walking modules: names and order of leaves, vectors, arrays and optionals, gradients of the
// module's type.
#include "tests/unit/expr/values.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

using namespace ricci;
using namespace ricci::testing;

namespace leaves_test {

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 4> {};
struct Mlp : axis<"mlp", 6> {};

struct FeedForward {
  BOOST_HANA_DEFINE_STRUCT(FeedForward, (nn::linear<f32, Hidden, Mlp>, up),
                           (nn::linear<f32, Mlp, Hidden>, down));
  auto operator()(auto const& x) const { return down(gelu(up(x))); }
};
using vector_type = tensor<f32, Hidden>;
using counts_type = tensor<i32, Hidden>;
using maybe_type = std::optional<FeedForward>;
using blocks_type = std::vector<FeedForward>;
using pair_type = std::array<nn::layer_norm<f32, Hidden>, 2>;
struct Model {
  BOOST_HANA_DEFINE_STRUCT(Model, (vector_type, position), (blocks_type, blocks),
                           (pair_type, norms), (maybe_type, head), (counts_type, counts));
  int layers = 0;  // not a parameter: outside of the macro
};

Model make(int layers, bool with_head) {
  Model m;
  m.layers = layers;
  m.blocks.resize(static_cast<std::size_t>(layers));
  if (with_head) m.head.emplace();
  return m;
}
std::vector<std::string> names_of(auto&& m) {
  std::vector<std::string> names;
  for_each_parameter(m, [&](std::string const& name, auto const&) { names.push_back(name); });
  return names;
}

}  // namespace leaves_test
using namespace leaves_test;

TEST_CASE("names and order are those of the declaration") {
  CHECK(names_of(make(2, true)) ==
        std::vector<std::string>{"position", "blocks.0.up.weight", "blocks.0.up.bias",
                                 "blocks.0.down.weight", "blocks.0.down.bias", "blocks.1.up.weight",
                                 "blocks.1.up.bias", "blocks.1.down.weight", "blocks.1.down.bias",
                                 "norms.0.weight", "norms.0.bias", "norms.1.weight", "norms.1.bias",
                                 "head.up.weight", "head.up.bias", "head.down.weight",
                                 "head.down.bias", "counts"});
  CHECK(names_of(make(0, false)) == std::vector<std::string>{"position", "norms.0.weight",
                                                             "norms.0.bias", "norms.1.weight",
                                                             "norms.1.bias", "counts"});
  // A tensor alone is a module with one leaf, which has no name.
  CHECK(names_of(tensor<f32, Hidden>()) == std::vector<std::string>{""});
}

TEST_CASE("f gets the leaf with its type, and may change it") {
  FeedForward m;
  int weights = 0;
  for_each_parameter(m, [&]<class T, class... A>(std::string const&, tensor<T, A...>& leaf) {
    static_assert(same<T, f32>);
    weights += sizeof...(A) == 2;
    leaf = ones<f32, A...>();
  });
  CHECK(weights == 2);
  CHECK(numbers(m.down.bias) == doubles{1, 1, 1, 1});
  FeedForward const& constant = m;
  for_each_parameter(constant, [](auto const&, auto const& leaf) { CHECK(!leaf.is_empty()); });
}

TEST_CASE("default construction allocates nothing") {
  auto const before = graph::counted().statements;
  FeedForward m;
  for_each_parameter(m, [](auto const&, auto const& leaf) { CHECK(leaf.is_empty()); });
  CHECK(graph::counted().statements == before);
}

TEST_CASE(
    "initialize reaches every leaf; the same key gives the same module, each leaf its own "
    "numbers") {
  Model a = make(2, true);
  Model b = make(2, true);
  initialize(a, random::key(3));
  initialize(b, random::key(3));
  std::map<std::string, doubles> values;
  for_each_parameter(a, [&](auto const& name, auto const& leaf) {
    CHECK(!leaf.is_empty());
    values[name] = numbers(leaf);
  });
  for_each_parameter(
      b, [&](auto const& name, auto const& leaf) { CHECK(values[name] == numbers(leaf)); });
  CHECK(values["blocks.0.up.weight"] != values["blocks.1.up.weight"]);
  CHECK(values["head.up.weight"] != values["blocks.0.up.weight"]);
  CHECK(values["norms.1.weight"] == doubles{1, 1, 1, 1});
  CHECK(values["norms.1.bias"] == doubles{0, 0, 0, 0});
  CHECK(values["counts"] == doubles{0, 0, 0, 0});
  // A leaf's numbers depend on its name and not on what stands beside it.
  Model c = make(3, false);
  initialize(c, random::key(3));
  CHECK(numbers(c.blocks[1].down.weight) == values["blocks.1.down.weight"]);
  Model d = make(2, true);
  initialize(d, random::key(4));
  CHECK(numbers(d.blocks[1].down.weight) != values["blocks.1.down.weight"]);
}

TEST_CASE("gradients have the module's own type; leaves that are not floating are empty") {
  Model m = make(2, true);
  initialize(m, random::key(3));
  m.counts = from<i32, Hidden>({1, 2, 3, 4});
  tensor x = random::normal<f32, Batch, Hidden>(random::key(5), Batch{3});
  auto const loss = [](Model const& model, auto const& in) {
    tensor h = in + model.position;
    for (auto const& block : model.blocks) h = h + block(h);
    h = model.norms[0](h);
    return mean(square((*model.head)(h) + to<f32>(model.counts)));
  };
  auto [value, gradient] = value_and_grad(loss, m, x);
  static_assert(same<decltype(gradient), Model>);
  static_assert(same<decltype(value), tensor<f32>>);
  CHECK(gradient.layers == 2);
  CHECK(gradient.counts.is_empty());
  CHECK(value.item() == loss(m, x).item());
  // norms[1] is not used: its gradient is zeros.
  CHECK(numbers(gradient.norms[1].weight) == doubles{0, 0, 0, 0});
  CHECK(names_of(gradient) == names_of(m));
  // One parameter against differences.
  double const step = 1e-2;
  auto const with = [&](double by) {
    Model other = m;
    auto values = list(m.blocks[1].up.bias);
    values[2] += static_cast<f32>(by);
    other.blocks[1].up.bias = from<f32, Mlp>(values);
    return loss(other, x).item();
  };
  CHECK(gradient.blocks[1].up.bias(Mlp{2}) ==
        doctest::Approx((with(step) - with(-step)) / (2 * step)).epsilon(0.02));
  // The model itself is what it was.
  for_each_parameter(m, [](auto const&, auto const& leaf) { CHECK(!leaf.is_empty()); });
  CHECK(numbers(m.counts) == doubles{1, 2, 3, 4});
}

TEST_CASE("a tensor, a view and an expression as what is differentiated") {
  tensor x = from<f64, Hidden>({1, 2, 3, 4});
  auto const f = [](auto const& v) { return sum(square(v)); };
  static_assert(same<decltype(grad(f, x)), tensor<f64, Hidden>>);
  CHECK(numbers(grad(f, x)) == doubles{2, 4, 6, 8});
  CHECK(numbers(grad(f, reverse<Hidden>(x))) == doubles{8, 6, 4, 2});
  CHECK(numbers(grad(f, x + 1)) == doubles{4, 6, 8, 10});
  CHECK(grad([](auto const& v) { return v * v * v; }, full<f64>(2)).item() == doctest::Approx(12));
  // Not reached: zeros. Further arguments are constants.
  CHECK(numbers(grad([](auto const&, auto const& c) { return sum(c); }, x, x)) ==
        doubles{0, 0, 0, 0});
}

TEST_CASE("an empty parameter is named") {
  Model m = make(1, false);
  initialize(m, random::key(3));
  m.blocks[0].down.bias = {};
  CHECK(has(sentence<value_error>([&] {
              (void)value_and_grad([](Model const& model) { return sum(model.position); }, m);
            }),
            {"blocks.0.down.bias", "empty"}));
  CHECK_THROWS_AS((void)grad([](auto const& v) { return sum(v); }, tensor<f32, Hidden>()),
                  value_error);
}
