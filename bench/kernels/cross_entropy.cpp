// cross_entropy on the host beside a copy of the same bytes and the loops as one would first write
// them. Bytes are those that must move: logits once, and the gradient once.

#include "kernels/cross_entropy/cross_entropy.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <ricci/tensor/dtype.hpp>
#include <vector>

#include "bench/kernels/aligned_vector.hpp"
#include "kernels/parallel/parallel.hpp"

namespace {

namespace k = ricci::kernels;
using bench::aligned_vector;
using ricci::dtype;
using std::int64_t;

struct operands {
  int64_t rows, classes;
  aligned_vector<float> logits, dlogits, loss, lse, dloss;
  std::vector<std::int32_t> targets;

  operands(int64_t r, int64_t c) : rows(r), classes(c) {
    for (auto* v : {&logits, &dlogits}) v->resize(static_cast<std::size_t>(rows * classes));
    for (auto* v : {&loss, &lse, &dloss}) v->resize(static_cast<std::size_t>(rows), 1.0f);
    for (std::size_t i = 0; i < logits.size(); ++i)
      logits[i] = static_cast<float>(i * 7919 % 1009) / 300;
    for (int64_t i = 0; i < rows; ++i)
      targets.push_back(static_cast<std::int32_t>(i * 31 % classes));
  }
  k::class_targets given() const { return {dtype::i32, targets.data(), {}}; }
  void forward() {
    k::cross_entropy(dtype::f32, rows, classes, 1, logits.data(), given(), loss.data(), lse.data());
  }
};

void naive_forward(operands& p, aligned_vector<float>& loss) {
  for (int64_t r = 0; r < p.rows; ++r) {
    float const* const x = &p.logits[r * p.classes];
    float top = x[0], total = 0;
    for (int64_t c = 0; c < p.classes; ++c) top = std::fmax(top, x[c]);
    for (int64_t c = 0; c < p.classes; ++c) total += std::exp(x[c] - top);
    loss[r] = std::log(total) + top - x[p.targets[r]];
  }
}

void report(benchmark::State& state, operands const& p, int tensors) {
  state.SetBytesProcessed(state.iterations() * tensors * p.rows * p.classes * 4);
}

// Arguments of all: threads, rows, classes.
operands prepared(benchmark::State& state) {
  k::set_threads(static_cast<int>(state.range(0)));
  return operands(state.range(1), state.range(2));
}

void copy(benchmark::State& state) {
  operands p = prepared(state);
  for (auto _ : state)
    k::parallel_chunks(p.rows, 16, [&](int64_t begin, int64_t end) {
      std::memcpy(&p.dlogits[begin * p.classes], &p.logits[begin * p.classes],
                  static_cast<std::size_t>((end - begin) * p.classes) * sizeof(float));
    });
  report(state, p, 2);
}

void naive(benchmark::State& state) {
  operands p = prepared(state);
  aligned_vector<float> loss(p.loss.size());
  for (auto _ : state) naive_forward(p, loss);
  p.forward();
  for (std::size_t i = 0; i < loss.size(); ++i)
    if (!(std::fabs(loss[i] - p.loss[i]) < 1e-4f)) {
      state.SkipWithError("cross_entropy differs from the plain loops");
      return;
    }
  report(state, p, 1);
}

void forward(benchmark::State& state) {
  operands p = prepared(state);
  for (auto _ : state) p.forward();
  report(state, p, 1);
}

void backward(benchmark::State& state) {
  operands p = prepared(state);
  p.forward();
  for (auto _ : state)
    k::cross_entropy_backward(dtype::f32, p.rows, p.classes, 1, p.logits.data(), p.given(),
                              p.lse.data(), p.dloss.data(), p.dlogits.data());
  report(state, p, 2);
}

void shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"threads", "rows", "classes"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  // Characters in cache, and 100 MB of words from memory.
  for (int64_t const threads : {1, 2}) b->Args({threads, 2048, 65})->Args({threads, 512, 50257});
}

BENCHMARK(copy)->Apply(shapes);
BENCHMARK(naive)->Args({1, 2048, 65})->Args({1, 64, 50257})->Unit(benchmark::kMicrosecond);
BENCHMARK(forward)->Apply(shapes);
BENCHMARK(backward)->Apply(shapes);

}  // namespace

BENCHMARK_MAIN();
