#include "kernels/pointwise/pointwise.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/parallel/parallel.hpp"

// Fused elementwise programs beside a parallel copy that moves as many bytes, in the same run.
namespace {

using namespace ricci;
namespace k = ricci::kernels;
using source = k::pointwise_value;

struct buffers {
  explicit buffers(std::int64_t n) : a(n, 0.5f), x(n), b(n, 0.25f), out(2 * n), more(2 * n, 1.0f) {
    for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 1999) / 400.0f - 2.5f;
  }
  std::vector<float> a, x, b, out, more;
};

// gelu(a * x + b) of three packed tensors.
struct gelu_program {
  gelu_program(buffers& buffer, std::int64_t n) : extents{n} {
    operands[0] = {buffer.a.data(), dtype::f32, &stride};
    operands[1] = {buffer.x.data(), dtype::f32, &stride};
    operands[2] = {buffer.b.data(), dtype::f32, &stride};
    instructions[0] = {opcode::multiply, dtype::f32, 0, {source::operand(0), source::operand(1)}};
    instructions[1] = {opcode::add, dtype::f32, 0, {source::instruction(0), source::operand(2)}};
    instructions[2] = {opcode::gelu_tanh, dtype::f32, 0, {source::instruction(1)}};
    outputs[0] = {source::instruction(2), dtype::f32, buffer.out.data()};
  }
  k::pointwise_program program() const { return {1, extents, operands, {}, instructions, outputs}; }
  std::int64_t extents[1];
  std::int64_t stride = 1;
  k::pointwise_operand operands[3];
  k::pointwise_instruction instructions[3];
  k::pointwise_output outputs[1];
};

// The baseline: reads 2 n floats and writes 2 n, as many bytes as the program moves.
void copy_baseline(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  buffers buffer(n);
  for (auto _ : state) {
    k::parallel_chunks(2 * n, std::max<std::int64_t>(1, std::min<std::int64_t>(n, 65536)),
                       [&](std::int64_t begin, std::int64_t end) {
                         std::memcpy(buffer.out.data() + begin, buffer.more.data() + begin,
                                     static_cast<std::size_t>(end - begin) * sizeof(float));
                       });
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * n * 16);
}

void gelu_of_product_and_sum(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  buffers buffer(n);
  gelu_program const gelu(buffer, n);
  k::run(gelu.program());
  for (std::int64_t i = 0; i < n; i += 977) {
    double const y = 0.5 * buffer.x[i] + 0.25;
    double const expected =
        y / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (y + 0.044715 * y * y * y)));
    if (std::fabs(buffer.out[i] - expected) > 1e-6) return state.SkipWithError("wrong result");
  }
  for (auto _ : state) {
    k::run(gelu.program());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * n * 16);
}

// One instruction: what a call costs when there is nearly nothing to do.
void one_addition(benchmark::State& state) {
  std::int64_t const n = state.range(0), stride = 1;
  buffers buffer(n);
  k::pointwise_operand const operands[] = {{buffer.a.data(), dtype::f32, &stride},
                                           {buffer.x.data(), dtype::f32, &stride}};
  k::pointwise_instruction const instructions[] = {
      {opcode::add, dtype::f32, 0, {source::operand(0), source::operand(1)}}};
  k::pointwise_output const outputs[] = {{source::instruction(0), dtype::f32, buffer.out.data()}};
  for (auto _ : state) {
    k::run({1, &n, operands, {}, instructions, outputs});
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * n);
}

void addition_baseline(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  buffers buffer(n);
  for (auto _ : state) {
    for (std::int64_t i = 0; i < n; ++i) buffer.out[i] = buffer.a[i] + buffer.x[i];
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * n);
}

constexpr std::int64_t large = 4 << 20;
BENCHMARK(copy_baseline)->Arg(large)->Arg(1 << 18)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(gelu_of_product_and_sum)
    ->Arg(large)
    ->Arg(1 << 18)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(addition_baseline)->Arg(16)->Arg(4096)->Arg(large)->UseRealTime();
BENCHMARK(one_addition)->Arg(16)->Arg(4096)->Arg(large)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
