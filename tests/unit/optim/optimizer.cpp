// AdamW and SGD against their formulas in f64, sharing, state, clipping, schedules.
// The recurrences are those of torch.optim.AdamW and torch.optim.SGD (PyTorch 2 documentation).
#include "tests/unit/expr/values.hpp"

#include <cmath>

using namespace ricci;
using namespace ricci::testing;

namespace {

struct N : axis<"n"> {};
struct Four : axis<"four", 4> {};
struct Three : axis<"three", 3> {};

struct Model {
  using matrix = tensor<f32, Four, Three>;
  using vector = tensor<f32, Four>;
  using counts = tensor<i32, Three>;
  BOOST_HANA_DEFINE_STRUCT(Model, (matrix, weight), (vector, bias), (counts, steps));
};
Model make(std::uint64_t key) {
  Model m;
  m.weight = random::normal<f32, Four, Three>(random::key(key).fold("weight"));
  m.bias = random::normal<f32, Four>(random::key(key).fold("bias"));
  m.steps = from<i32, Three>({1, 2, 3});
  return m;
}
Model gradient(int step) {
  Model m = make(100 + static_cast<std::uint64_t>(step));
  m.steps = {};
  return m;
}

template <class T> T after_one_step(T p, T g, optim::adamw_options options, double rate) {
  tensor parameter = full<T>(p);
  parameter = parameter + 0;
  optim::adamw optimizer(options);
  optimizer.step(parameter, tensor(full<T>(g)), rate);
  return parameter.item();
}

/// One number under torch.optim.SGD.
struct sgd_reference {
  optim::sgd_options o;
  double velocity = 0;
  bool is_first = true;
  double step(double p, double g, double rate) {
    g += o.weight_decay * p;
    if (o.momentum != 0) {
      velocity = is_first ? g : o.momentum * velocity + (1 - o.dampening) * g;
      is_first = false;
      g = o.nesterov ? g + o.momentum * velocity : velocity;
    }
    return p - rate * g;
  }
};

}  // namespace

TEST_CASE("one step of AdamW and of Adam") {
  // Decoupled decay: 1 (1 - .1 .1) - .1 = 0.89.
  CHECK(after_one_step<f64>(1, 1, {.epsilon = 1e-300, .weight_decay = 0.1}, 0.1) ==
        doctest::Approx(0.89).epsilon(1e-12));
  // Bias correction: -0.1, not -0.316.
  CHECK(after_one_step<f64>(0, 1, {.epsilon = 1e-300, .weight_decay = 0}, 0.1) ==
        doctest::Approx(-0.1).epsilon(1e-12));
  CHECK(after_one_step<f32>(0, 1, {.weight_decay = 0}, 0.1) == doctest::Approx(-0.1).epsilon(1e-6));
  // A gradient of 0 leaves the decay alone; of the optimizer's defaults: 0.01.
  CHECK(after_one_step<f64>(2, 0, {}, 0.1) == doctest::Approx(2 * (1 - 0.1 * 0.01)).epsilon(1e-12));
}

TEST_CASE("ten steps of AdamW on a module, decay on matrices only") {
  optim::adamw_options const o{
      .beta1 = 0.9,
      .beta2 = 0.95,
      .epsilon = 1e-8,
      .weight_decay = 0.1,
      .decays = [](std::string_view name, int rank) { return rank > 1 && name == "weight"; }};
  optim::adamw optimizer(o);
  Model m = make(1);
  auto p = numbers(m.weight);
  auto const bias = numbers(m.bias);
  p.insert(p.end(), bias.begin(), bias.end());
  doubles first(p.size()), second(p.size());
  for (int t = 1; t <= 10; ++t) {
    Model const g = gradient(t);
    double const rate = 1e-2 / t;
    optimizer.step(m, g, rate, 0.5);
    auto all = numbers(g.weight);
    auto const rest = numbers(g.bias);
    all.insert(all.end(), rest.begin(), rest.end());
    for (std::size_t i = 0; i < p.size(); ++i) {
      double const scaled = all[i] * 0.5;
      if (i < 12) p[i] -= rate * 0.1 * p[i];
      first[i] = 0.9 * first[i] + 0.1 * scaled;
      second[i] = 0.95 * second[i] + 0.05 * scaled * scaled;
      p[i] -= rate * (first[i] / (1 - std::pow(0.9, t))) /
              (std::sqrt(second[i] / (1 - std::pow(0.95, t))) + 1e-8);
    }
    auto got = numbers(m.weight);
    auto const more = numbers(m.bias);
    got.insert(got.end(), more.begin(), more.end());
    for (std::size_t i = 0; i < p.size(); ++i) CHECK(got[i] == doctest::Approx(p[i]).epsilon(1e-5));
  }
  CHECK(optimizer.steps() == 10);
  CHECK(numbers(m.steps) == doubles{1, 2, 3});
}

TEST_CASE("SGD: plain, momentum, dampening, Nesterov, decay") {
  for (optim::sgd_options const& o :
       {optim::sgd_options{}, optim::sgd_options{.weight_decay = 0.1},
        optim::sgd_options{.momentum = 0.9}, optim::sgd_options{.momentum = 0.9, .dampening = 0.3},
        optim::sgd_options{.momentum = 0.9, .nesterov = true},
        optim::sgd_options{.momentum = 0.8, .nesterov = true, .weight_decay = 0.05}}) {
    optim::sgd optimizer(o);
    sgd_reference reference{o};
    tensor p = from<f64, N>({1.5}, N{1});
    double expected = 1.5;
    for (int t = 0; t < 5; ++t) {
      double const g = 0.3 * t - 0.4;
      optimizer.step(p, tensor(from<f64, N>({g}, N{1})), 0.1);
      expected = reference.step(expected, g, 0.1);
      CHECK(p(N{0}) == doctest::Approx(expected).epsilon(1e-12));
    }
  }
  CHECK_THROWS_AS(optim::sgd({.dampening = 0.5, .nesterov = true}), value_error);
  CHECK_THROWS_AS(optim::sgd({.momentum = -1}), value_error);
  CHECK_THROWS_AS(optim::adamw({.beta1 = 1}), value_error);
  CHECK_THROWS_AS(optim::adamw({.beta2 = not_a_number}), value_error);
}

TEST_CASE("a copy of the model keeps its values; nobody else's storage is written") {
  Model m = make(1);
  Model const kept = m;
  auto const before = numbers(kept.weight);
  auto const view = at<Four>(m.weight, 0);
  auto const row = numbers(view);
  auto lazy = m.bias + 1;
  auto const biased = numbers(tensor(m.bias + 1));
  CHECK(shares(m.weight, kept.weight));
  optim::adamw optimizer;
  optimizer.step(m, gradient(1), 0.1);
  CHECK(numbers(kept.weight) == before);
  CHECK(numbers(m.weight) != before);
  CHECK(numbers(view) == row);
  CHECK(numbers(lazy) == biased);
  // Alone, it is changed in place.
  auto const* const place = m.weight.values().data();
  optimizer.step(m, gradient(2), 0.1);
  CHECK(m.weight.values().data() == place);
}

TEST_CASE("narrow parameters have f32 moments and round once") {
  tensor p = full<bf16, N>(1, N{3});
  optim::adamw optimizer({.weight_decay = 0});
  for (int t = 0; t < 3; ++t) optimizer.step(p, tensor(full<bf16, N>(1, N{3})), 0.125);
  CHECK(numbers(p)[0] == doctest::Approx(1 - 3 * 0.125).epsilon(0.01));
  auto held = p;
  for (auto const& leaf : optimizer.state(detail::leaves_of(held))) CHECK(leaf.type == dtype::f32);
}

TEST_CASE("the state is named after the parameters") {
  Model m = make(1);
  optim::adamw optimizer;
  std::vector<std::string> names;
  for (auto const& leaf : optimizer.state(detail::leaves_of(m))) names.push_back(leaf.name);
  CHECK(names == std::vector<std::string>{"first_moment.weight", "first_moment.bias",
                                          "second_moment.weight", "second_moment.bias"});
}

TEST_CASE("gradients that do not fit the parameters") {
  tensor p = ones<f32, N>(N{3});
  optim::adamw optimizer;
  CHECK(has(sentence([&] { optimizer.step(p, tensor(ones<f32, N>(N{4})), 0.1); }),
            {"`n`", "3", "4"}));
  Model m = make(1);
  Model g = gradient(1);
  g.bias = {};
  CHECK(has(sentence<value_error>([&] { optimizer.step(m, g, 0.1); }), {"`bias`", "empty"}));
  m.weight = {};
  CHECK(has(sentence<value_error>([&] { optimizer.step(m, gradient(1), 0.1); }),
            {"`weight`", "empty"}));
  CHECK(optimizer.steps() == 0);
}

TEST_CASE("a parameter whose extents changed since the state was made is refused by name") {
  tensor p = ones<f32, N>(N{3});
  optim::adamw adam;
  optim::sgd sgd({.momentum = 0.9});
  adam.step(p, tensor(ones<f32, N>(N{3})), 0.1);
  sgd.step(p, tensor(ones<f32, N>(N{3})), 0.1);
  tensor wider = ones<f32, N>(N{5});
  CHECK(
      has(sentence([&] { adam.step(wider, tensor(ones<f32, N>(N{5})), 0.1); }), {"`n`", "3", "5"}));
  CHECK(
      has(sentence([&] { sgd.step(wider, tensor(ones<f32, N>(N{5})), 0.1); }), {"`n`", "3", "5"}));
}

TEST_CASE("the norm of all gradients, and clipping") {
  Model g;
  g.weight = zeros<f32, Four, Three>();
  g.bias = from<f32, Four>({0, 3, 0, 4});
  CHECK(optim::global_norm(g) == doctest::Approx(5));
  CHECK(optim::clip_scale(5, 1) == doctest::Approx(0.2));
  CHECK(optim::clip_scale(0.5, 1) == 1);
  CHECK(optim::clip_scale(0, 1) == 1);
  CHECK(std::isnan(optim::clip_scale(not_a_number, 1)));
  CHECK(optim::global_norm(tensor(full<bf16, N>(2, N{4}))) == doctest::Approx(4));
  // g = 2 with a maximal norm of 1 -> 1: SGD at rate 1 moves by 1. With a loss scale of 1024 the
  // norm is that of the unscaled gradient.
  for (double const loss_scale : {1.0, 1024.0}) {
    tensor p = zeros<f64, N>(N{1});
    tensor scaled = full<f64, N>(2 * loss_scale, N{1});
    double const norm = optim::global_norm(scaled) / loss_scale;
    optim::sgd().step(p, scaled, 1, optim::clip_scale(norm, 1) / loss_scale);
    CHECK(p(N{0}) == doctest::Approx(-1));
  }
}

TEST_CASE("warm-up, then half a cosine to a tenth: the peer's formula") {
  double const peak = 1e-3;
  optim::warmup_cosine const schedule{
      .peak = peak, .floor = peak / 10, .warmup = 100, .steps = 1000};
  double const pi = std::acos(-1.0);
  for (int step : {0, 1, 50, 99, 100, 101, 500, 998, 999}) {
    double const expected = step < 100
                                ? peak * (step + 1) / 100
                                : peak * (0.1 + 0.45 * (1 + std::cos(pi * (step - 100) / 900.0)));
    CHECK(schedule(step) == doctest::Approx(expected).epsilon(1e-12));
  }
  CHECK(schedule(1000) == doctest::Approx(peak / 10));
  CHECK(schedule(5000) == doctest::Approx(peak / 10));
  optim::warmup_cosine const short_one{.peak = 1, .floor = 0, .warmup = 0, .steps = 0};
  CHECK(std::isfinite(short_one(0)));
}
