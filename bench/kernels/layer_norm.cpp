// layer_norm on the host beside a copy of the same bytes and the loops as one would first write
// them. Bytes are those that must move: each operand once.

#include "kernels/layer_norm/layer_norm.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <ricci/tensor/dtype.hpp>

#include "bench/kernels/aligned_vector.hpp"
#include "kernels/parallel/parallel.hpp"
#include "kernels/rms_norm/rms_norm.hpp"

namespace {

namespace k = ricci::kernels;
using bench::aligned_vector;
using ricci::dtype;
using std::int64_t;

struct operands {
  int64_t rows, width;
  aligned_vector<float> x, scale, bias, y, dy, dx, dscale, dbias, mean, rstd;

  operands(int64_t r, int64_t w) : rows(r), width(w) {
    for (auto* v : {&x, &y, &dy, &dx}) v->resize(static_cast<std::size_t>(rows * width), 0.5f);
    for (auto* v : {&scale, &bias, &dscale, &dbias}) v->resize(static_cast<std::size_t>(width), 1);
    for (auto* v : {&mean, &rstd}) v->resize(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009) / 1009;
  }
  void forward() {
    k::layer_norm(dtype::f32, rows, width, x.data(), scale.data(), bias.data(), 1e-5, y.data(),
                  mean.data(), rstd.data());
  }
};

void naive_forward(operands& p, aligned_vector<float>& y) {
  for (int64_t r = 0; r < p.rows; ++r) {
    float const* const x = &p.x[r * p.width];
    float mean = 0, variance = 0;
    for (int64_t c = 0; c < p.width; ++c) mean += x[c];
    mean /= static_cast<float>(p.width);
    for (int64_t c = 0; c < p.width; ++c) variance += (x[c] - mean) * (x[c] - mean);
    float const rstd = 1 / std::sqrt(variance / static_cast<float>(p.width) + 1e-5f);
    for (int64_t c = 0; c < p.width; ++c)
      y[r * p.width + c] = (x[c] - mean) * rstd * p.scale[c] + p.bias[c];
  }
}

void report(benchmark::State& state, operands const& p, int tensors) {
  state.SetBytesProcessed(state.iterations() * tensors * p.rows * p.width * 4);
}

// Arguments of all: threads, rows, width.
operands prepared(benchmark::State& state) {
  k::set_threads(static_cast<int>(state.range(0)));
  return operands(state.range(1), state.range(2));
}

void copy(benchmark::State& state) {
  operands p = prepared(state);
  for (auto _ : state)
    k::parallel_chunks(p.rows, 64, [&](int64_t begin, int64_t end) {
      std::memcpy(&p.y[begin * p.width], &p.x[begin * p.width],
                  static_cast<std::size_t>((end - begin) * p.width) * sizeof(float));
    });
  report(state, p, 2);
}

void naive(benchmark::State& state) {
  operands p = prepared(state);
  aligned_vector<float> y(p.y.size());
  for (auto _ : state) naive_forward(p, y);
  p.forward();
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!(std::fabs(y[i] - p.y[i]) < 1e-4f)) {
      state.SkipWithError("layer_norm differs from the plain loops");
      return;
    }
  report(state, p, 2);
}

void forward(benchmark::State& state) {
  operands p = prepared(state);
  for (auto _ : state) p.forward();
  report(state, p, 2);
}

void backward(benchmark::State& state) {
  operands p = prepared(state);
  p.forward();
  for (auto _ : state)
    k::layer_norm_backward(dtype::f32, p.rows, p.width, p.x.data(), p.scale.data(), p.mean.data(),
                           p.rstd.data(), p.dy.data(), p.dx.data(), p.dscale.data(),
                           p.dbias.data());
  report(state, p, 3);
}

void rms_forward(benchmark::State& state) {
  operands p = prepared(state);
  for (auto _ : state)
    k::rms_norm(dtype::f32, p.rows, p.width, p.x.data(), p.scale.data(), 1e-6, p.y.data(),
                p.rstd.data());
  report(state, p, 2);
}

void shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"threads", "rows", "width"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  // A step of 8 x 256 tokens in cache, and 50 MB from memory.
  for (int64_t const threads : {1, 2}) b->Args({threads, 2048, 384})->Args({threads, 16384, 768});
}

BENCHMARK(copy)->Apply(shapes);
BENCHMARK(naive)->Args({1, 2048, 384})->Unit(benchmark::kMicrosecond);
BENCHMARK(forward)->Apply(shapes);
BENCHMARK(rms_forward)->Apply(shapes);
BENCHMARK(backward)->Apply(shapes);

}  // namespace

BENCHMARK_MAIN();
