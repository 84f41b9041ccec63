// Attention of a small GPT step on the host, beside the same three loops written out.
// Operations are counted over the scores that a causal mask leaves.

#include "kernels/attention/attention.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ricci/tensor/dtype.hpp>

#include "bench/kernels/aligned_vector.hpp"
#include "kernels/parallel/parallel.hpp"

namespace {

namespace k = ricci::kernels;
using bench::aligned_vector;
using std::int64_t;

constexpr int64_t batch = 8;
constexpr int64_t heads = 6;

template <class T> struct operands {
  k::attention_problem p;
  aligned_vector<T> q, k, v, y, dy, dq, dk, dv;
  aligned_vector<float> lse;

  operands(int64_t b, int64_t h, int64_t seq_q, int64_t seq_k, int64_t d, bool causal)
      : p{ricci::dtype_of<T>, b, h, seq_q, seq_k, d, 1 / std::sqrt(double(d)), causal} {
    auto const size = [&](int64_t seq) { return static_cast<std::size_t>(b * h * seq * d); };
    for (auto* x : {&q, &y, &dy, &dq}) x->resize(size(seq_q));
    for (auto* x : {&k, &v, &dk, &dv}) x->resize(size(seq_k));
    lse.resize(static_cast<std::size_t>(b * h * seq_q));
    std::uint32_t state = 1;
    for (auto* x : {&q, &k, &v, &dy})
      for (auto& value : *x)
        value =
            T(static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 23) - 1);
  }
  k::attention_input in(aligned_vector<T> const& x, int64_t seq) const {
    return {x.data(), seq * p.heads * p.head_dim, p.head_dim, p.heads * p.head_dim};
  }
  k::attention_output out(aligned_vector<T>& x, int64_t seq) const {
    return {x.data(), seq * p.heads * p.head_dim, p.head_dim, p.heads * p.head_dim};
  }
  void forward() {
    k::attention(p, in(q, p.seq_q), in(k, p.seq_k), in(v, p.seq_k), out(y, p.seq_q), lse.data());
  }
  void backward() {
    k::attention_backward(p, in(q, p.seq_q), in(k, p.seq_k), in(v, p.seq_k), in(y, p.seq_q),
                          in(dy, p.seq_q), lse.data(), out(dq, p.seq_q), out(dk, p.seq_k),
                          out(dv, p.seq_k));
  }
  // Multiplications and additions of one product over the scores that are seen.
  double product_operations() const {
    double pairs = 0;
    for (int64_t i = 0; i < p.seq_q; ++i)
      pairs += static_cast<double>(p.causal ? i + 1 + p.seq_k - p.seq_q : p.seq_k);
    return 2 * pairs * static_cast<double>(p.batch * p.heads * p.head_dim);
  }
};

void naive_forward(operands<float>& x, aligned_vector<float>& y) {
  auto const& p = x.p;
  int64_t const d = p.head_dim;
  aligned_vector<float> w(static_cast<std::size_t>(p.seq_k));
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.heads; ++h)
      for (int64_t i = 0; i < p.seq_q; ++i) {
        float const* const q = &x.q[((b * p.seq_q + i) * p.heads + h) * d];
        float* const to = &y[((b * p.seq_q + i) * p.heads + h) * d];
        int64_t const keys = p.causal ? i + 1 + p.seq_k - p.seq_q : p.seq_k;
        float top = -INFINITY, total = 0;
        for (int64_t j = 0; j < keys; ++j) {
          float const* const key = &x.k[((b * p.seq_k + j) * p.heads + h) * d];
          float sum = 0;
          for (int64_t c = 0; c < d; ++c) sum += q[c] * key[c];
          w[j] = sum * static_cast<float>(p.scale);
          top = std::fmax(top, w[j]);
        }
        for (int64_t j = 0; j < keys; ++j) total += w[j] = std::exp(w[j] - top);
        for (int64_t c = 0; c < d; ++c) to[c] = 0;
        for (int64_t j = 0; j < keys; ++j) {
          float const* const value = &x.v[((b * p.seq_k + j) * p.heads + h) * d];
          for (int64_t c = 0; c < d; ++c) to[c] += w[j] / total * value[c];
        }
      }
}

void report(benchmark::State& state, double operations) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(operations * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void naive(benchmark::State& state) {
  operands<float> x(batch, heads, state.range(0), state.range(0), 64, true);
  aligned_vector<float> y(x.y.size());
  for (auto _ : state) naive_forward(x, y);
  x.forward();
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!(std::fabs(y[i] - x.y[i]) < 1e-5f)) {
      state.SkipWithError("attention differs from the plain loops");
      return;
    }
  report(state, 2 * x.product_operations());
}

// Arguments: threads, seq_q, seq_k, head_dim, causal.
template <class T> void forward(benchmark::State& state) {
  k::set_threads(static_cast<int>(state.range(0)));
  operands<T> x(batch, heads, state.range(1), state.range(2), state.range(3), state.range(4) != 0);
  for (auto _ : state) x.forward();
  report(state, 2 * x.product_operations());
}

template <class T> void backward(benchmark::State& state) {
  k::set_threads(static_cast<int>(state.range(0)));
  operands<T> x(batch, heads, state.range(1), state.range(2), state.range(3), state.range(4) != 0);
  x.forward();
  for (auto _ : state) x.backward();
  report(state, 5 * x.product_operations());
}

void shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"threads", "seq_q", "seq_k", "d", "causal"})->UseRealTime();
  for (int64_t const threads : {1, 2}) b->Args({threads, 256, 256, 64, 1});
  b->Args({1, 256, 256, 64, 0})->Args({1, 1024, 1024, 64, 1})->Args({1, 256, 256, 128, 1});
}

BENCHMARK(naive)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK(forward<float>)->Apply(shapes)->Args({1, 1, 1024, 64, 0});
BENCHMARK(backward<float>)->Apply(shapes);
BENCHMARK(forward<ricci::bf16>)->Args({1, 256, 256, 64, 1})->UseRealTime();
BENCHMARK(backward<ricci::bf16>)->Args({1, 256, 256, 64, 1})->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
