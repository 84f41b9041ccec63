// What a statement costs. `fused` is gelu(a * x + b) of three 4 M-element tensors, with the counter `ratio`: its
// time over that of a plain copy of the same bytes on the same threads, medians of both, taken in turns.
// `small_add` and `small_einsum` are whole statements, building and freeing included.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

#include <ricci/exec/threads.hpp>
#include <ricci/ricci.hpp>

#include "kernels/parallel/parallel.hpp"

namespace {

using namespace ricci;

struct N : axis<"n"> {};
struct I : axis<"i", 8> {};
struct J : axis<"j", 8> {};
struct K : axis<"k", 8> {};

double seconds_of(auto const& f) {
  auto const begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void fused(benchmark::State& state) {
  set_threads(2);
  std::int64_t const n = 4 << 20;
  tensor a = random::normal<f32, N>(random::key(1), N{n});
  tensor x = random::normal<f32, N>(random::key(2), N{n});
  tensor b = random::normal<f32, N>(random::key(3), N{n});
  tensor y = gelu(a * x + b);
  for (std::int64_t i : {std::int64_t{0}, n / 3, n - 1}) {
    double const u = a(N{i}) * x(N{i}) + b(N{i});
    double const expected = u * 0.5 * std::erfc(-u / std::sqrt(2.0));
    if (std::abs(y(N{i}) - expected) > 1e-5 * (1 + std::abs(expected))) state.SkipWithError("a wrong value");
  }
  // Four arrays move: the copy is of two into two.
  std::vector<float> from(static_cast<std::size_t>(2 * n), 1.0f), into(static_cast<std::size_t>(2 * n));
  std::vector<double> times;
  std::vector<double> copies;
  for (auto _ : state) {
    times.push_back(seconds_of([&] { y = gelu(a * x + b); }));
    copies.push_back(seconds_of([&] {
      kernels::parallel_chunks(2 * n, n, [&](std::int64_t begin, std::int64_t end) {
        std::memcpy(into.data() + begin, from.data() + begin, static_cast<std::size_t>(end - begin) * 4);
      });
    }));
  }
  state.counters["ms"] = median(times) * 1e3;
  state.counters["copy_ms"] = median(copies) * 1e3;
  state.counters["ratio"] = median(times) / median(copies);
}
BENCHMARK(fused)->Iterations(100)->Unit(benchmark::kMillisecond);

void small_add(benchmark::State& state) {
  tensor a = random::normal<f32, N>(random::key(1), N{16});
  tensor b = random::normal<f32, N>(random::key(2), N{16});
  for (auto _ : state) {
    tensor c = a + b;
    benchmark::DoNotOptimize(c);
  }
}
BENCHMARK(small_add)->Unit(benchmark::kNanosecond);

void small_einsum(benchmark::State& state) {
  tensor a = random::normal<f32, I, K>(random::key(1));
  tensor b = random::normal<f32, K, J>(random::key(2));
  for (auto _ : state) {
    tensor c = einsum<"i k, k j -> i j">(a, b);
    benchmark::DoNotOptimize(c);
  }
}
BENCHMARK(small_einsum)->Unit(benchmark::kNanosecond);

}  // namespace

BENCHMARK_MAIN();
