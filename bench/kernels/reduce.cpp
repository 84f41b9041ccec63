#include "kernels/reduce/reduce.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/parallel/parallel.hpp"

// Reductions of 16 M f32 beside a parallel read of the same bytes, in the same run.
namespace {

using namespace ricci;
namespace k = ricci::kernels;
using k::reduction;

constexpr std::int64_t total = 1 << 24;

std::vector<float> const& numbers() {
  static std::vector<float> const x = [] {
    std::vector<float> values(total);
    for (std::int64_t i = 0; i < total; ++i)
      values[static_cast<std::size_t>(i)] = static_cast<float>(i % 1021) / 512 - 1;
    return values;
  }();
  return x;
}

// The baseline: adds everything up in sixteen integer lanes per task, which is only a read.
void read_baseline(benchmark::State& state) {
  auto const* const x = reinterpret_cast<std::uint32_t const*>(numbers().data());
  std::vector<std::uint32_t> sums(256);
  for (auto _ : state) {
    k::parallel_for(256, [&](std::int64_t task) {
      std::uint32_t sum = 0;
      for (std::int64_t i = task * (total / 256); i < (task + 1) * (total / 256); ++i) sum += x[i];
      sums[static_cast<std::size_t>(task)] = sum;
    });
    benchmark::DoNotOptimize(sums.data());
  }
  state.SetBytesProcessed(state.iterations() * total * 4);
}

// range(0): extent of the second axis; range(1): mask of the reduced axes.
void reduce_axes(benchmark::State& state, reduction op, bool transposed) {
  std::int64_t const inner = state.range(0), extents[] = {total / inner, inner};
  std::int64_t const strides[] = {transposed ? 1 : inner, transposed ? total / inner : 1};
  auto const reduced = static_cast<std::uint32_t>(state.range(1));
  std::vector<double> out(static_cast<std::size_t>(std::max(extents[0], extents[1])));
  k::strided_view const view{numbers().data(), dtype::f32, 2, extents, strides};
  for (auto _ : state) {
    k::reduce(op, view, reduced, out.data(), dtype::f32);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * total * 4);
}

#define REDUCE(op, name, transposed)                              \
  BENCHMARK_CAPTURE(reduce_axes, name, reduction::op, transposed) \
      ->Args({1024, 3})                                           \
      ->Args({1024, 2})                                           \
      ->Args({1024, 1})                                           \
      ->Args({48, 2})                                             \
      ->Args({48, 1})                                             \
      ->Args({4, 2})                                              \
      ->Args({4, 1})                                              \
      ->UseRealTime()                                             \
      ->MeasureProcessCPUTime()                                   \
      ->Unit(benchmark::kMicrosecond)

BENCHMARK(read_baseline)->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMicrosecond);
REDUCE(sum, sum, false);
REDUCE(sum, sum_of_transposed, true);
REDUCE(max, max, false);
REDUCE(logsumexp, logsumexp, false);
REDUCE(argmax, argmax, false);

}  // namespace

BENCHMARK_MAIN();
