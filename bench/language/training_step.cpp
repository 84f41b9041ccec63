// One training step of GPT (6 layers, 6 heads, width 384, sequence 256, batch 8, f32), counted as
// (6 N + 12 L C T) operations a token, beside the rate of oneDNN's f32 matmul at 2048 cubed in the same run.
// Counters: `gflops`; `share`, gflops over the matmul's; `peak_rss_mb` of the process up to there.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <vector>

#include <benchmark/benchmark.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <ricci/exec/threads.hpp>

#include "examples/gpt/model.hpp"

namespace {

using namespace gpt;

double seconds_of(auto const& f) {
  auto const begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The best of several 2048^3 products by oneDNN, in operations a second.
double matmul_rate() {
  constexpr dnnl::memory::dim n = 2048;
  dnnl::engine const engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  dnnl::memory::desc const square({n, n}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  std::vector<float> a(n * n, 0.5f), b(n * n, 0.25f), c(n * n);
  dnnl::matmul const product(dnnl::matmul::primitive_desc(dnnl::matmul::desc(square, square, square), engine));
  std::unordered_map<int, dnnl::memory> const arguments{{DNNL_ARG_SRC, {square, engine, a.data()}},
                                                        {DNNL_ARG_WEIGHTS, {square, engine, b.data()}},
                                                        {DNNL_ARG_DST, {square, engine, c.data()}}};
  double best = 1e9;
  for (int i = 0; i < 12; ++i)
    best = std::min(best, seconds_of([&] {
                      product.execute(stream, arguments);
                      stream.wait();
                    }));
  return 2.0 * n * n * n / best;
}

double peak_rss_mb() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void training_step(benchmark::State& state) {
  set_threads(2);
  Sizes const sizes{.layers = 6, .heads = 6, .width = 384, .seq = 256};
  std::int64_t const batch = 8;
  double peak = 0;
  double best = 1e9;
  double parameters = 0;
  {
    Gpt<> model = make_gpt(sizes, random::key(0));
    for_each_parameter(model, [&](auto const&, auto const& leaf) { parameters += static_cast<double>(leaf.shape().element_count()); });
    optim::adamw optimizer({.beta2 = 0.95, .weight_decay = 0.1, .decays = [](auto, int rank) { return rank > 1; }});
    tensor<i32, Batch, Seq> ids = to<i32>(random::uniform<f32, Batch, Seq>(random::key(1), Batch{batch}, Seq{sizes.seq}) * 255);
    for (auto _ : state)
      best = std::min(best, seconds_of([&] {
                        auto [loss, gradient] = value_and_grad(Loss<>{}, model, ids, ids);
                        optimizer.step(model, gradient, 1e-4, optim::clip_scale(optim::global_norm(gradient), 1));
                      }));
    peak = peak_rss_mb();
  }
  double const tokens = static_cast<double>(batch * sizes.seq);
  double const operations = (6 * parameters + 12.0 * sizes.layers * sizes.width * sizes.seq) * tokens;
  double const baseline = matmul_rate();
  state.counters["parameters"] = parameters;
  state.counters["best_ms"] = best * 1e3;
  state.counters["gflops"] = operations / best / 1e9;
  state.counters["matmul_gflops"] = baseline / 1e9;
  state.counters["share"] = operations / best / baseline;
  state.counters["peak_rss_mb"] = peak;
}
BENCHMARK(training_step)->Unit(benchmark::kMillisecond)->Iterations(12);

}  // namespace

BENCHMARK_MAIN();
