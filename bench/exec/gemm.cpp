// Matrix products through exec::contract, beside oneDNN called directly with the same arrays, in
// f32 and bf16 on 1 and 2 threads: 2048 cubed, and what a transformer of width 384 multiplies in a
// training step of 2048 tokens. The counter `share` is contract's rate over oneDNN's own;
// `of_cube` is it over the rate of 2048 cubed of the same dtype and threads.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <ricci/exec/contract.hpp>

#include "kernels/parallel/parallel.hpp"

namespace {

using ricci::dtype;

struct product {
  char const* name;
  std::int64_t m, n, k;
  bool a_transposed, b_transposed;
};

constexpr product products[] = {
    {"cube", 2048, 2048, 2048, false, false},   {"qkv", 2048, 1152, 384, false, false},
    {"qkv_dx", 2048, 384, 1152, false, true},   {"qkv_dw", 384, 1152, 2048, true, false},
    {"proj", 2048, 384, 384, false, false},     {"proj_dx", 2048, 384, 384, false, true},
    {"proj_dw", 384, 384, 2048, true, false},   {"up", 2048, 1536, 384, false, false},
    {"up_dx", 2048, 384, 1536, false, true},    {"up_dw", 384, 1536, 2048, true, false},
    {"down", 2048, 384, 1536, false, false},    {"down_dx", 2048, 1536, 384, false, true},
    {"down_dw", 1536, 384, 2048, true, false},  {"logits", 2048, 256, 384, false, false},
    {"logits_dx", 2048, 384, 256, false, true}, {"logits_dw", 384, 256, 2048, true, false},
};

struct arrays {
  std::vector<char> a, b, c;

  arrays(product const& p, dtype type) {
    std::int64_t const bytes = ricci::size_of(type);
    a.resize(p.m * p.k * bytes);
    b.resize(p.k * p.n * bytes);
    c.resize(p.m * p.n * bytes);
    // Small numbers whose sums are exact, so that both ways must agree to the bit in f32.
    auto const fill = [&](std::vector<char>& to, unsigned seed) {
      std::int64_t const count = static_cast<std::int64_t>(to.size()) / bytes;
      for (std::int64_t i = 0; i < count; ++i) {
        seed = seed * 1664525u + 1013904223u;
        float const value = static_cast<float>(static_cast<int>(seed >> 24) % 5 - 2);
        if (type == dtype::f32)
          reinterpret_cast<float*>(to.data())[i] = value;
        else
          reinterpret_cast<ricci::bf16*>(to.data())[i] = ricci::bf16(value);
      }
    };
    fill(a, 1);
    fill(b, 2);
  }
};

void by_contract(product const& p, dtype type, arrays& x) {
  std::int64_t const a_extents[] = {p.m, p.k}, b_extents[] = {p.k, p.n}, extents[] = {p.m, p.n};
  std::int64_t const a_rows[] = {p.k, 1}, a_columns[] = {1, p.m};
  std::int64_t const b_rows[] = {p.n, 1}, b_columns[] = {1, p.k};
  std::uint8_t const mk[] = {0, 2}, kn[] = {2, 1}, mn[] = {0, 1};
  ricci::exec::contract({x.a.data(), type, 2, a_extents, p.a_transposed ? a_columns : a_rows, mk},
                        {x.b.data(), type, 2, b_extents, p.b_transposed ? b_columns : b_rows, kn},
                        {x.c.data(), type, 2, extents, mn});
}

class direct_product {
 public:
  direct_product(product const& p, dtype type, arrays& x) : engine_(dnnl::engine::kind::cpu, 0) {
    using memory = dnnl::memory;
    auto const t = type == dtype::f32 ? memory::data_type::f32 : memory::data_type::bf16;
    auto const desc = [&](std::int64_t rows, std::int64_t columns, bool transposed) {
      return memory::desc({rows, columns}, t,
                          transposed ? memory::dims{1, rows} : memory::dims{columns, 1});
    };
    auto const a = desc(p.m, p.k, p.a_transposed);
    auto const b = desc(p.k, p.n, p.b_transposed);
    auto const c = desc(p.m, p.n, false);
    matmul_ = dnnl::matmul({{a, b, c}, engine_});
    stream_ = dnnl::stream(engine_);
    arguments_ = {{DNNL_ARG_SRC, memory(a, engine_, x.a.data())},
                  {DNNL_ARG_WEIGHTS, memory(b, engine_, x.b.data())},
                  {DNNL_ARG_DST, memory(c, engine_, x.c.data())}};
  }
  void run() { matmul_.execute(stream_, arguments_); }

 private:
  dnnl::engine engine_;
  dnnl::matmul matmul_;
  dnnl::stream stream_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

// Least seconds of one call, over a tenth of a second.
template <class F> double least_seconds(F f) {
  double least = 1e9;
  double total = 0;
  for (int i = 0; i < 5 || total < 0.1; ++i) {
    auto const begin = std::chrono::steady_clock::now();
    f();
    double const seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    least = std::min(least, seconds);
    total += seconds;
  }
  return least;
}

void run(benchmark::State& state, product const& p, dtype type, int threads) {
  static std::map<std::pair<dtype, int>, double> cube;
  ricci::kernels::set_threads(threads);
  arrays x(p, type);
  direct_product direct(p, type, x);
  direct.run();
  std::vector<char> const expected = x.c;
  std::fill(x.c.begin(), x.c.end(), char(0));
  by_contract(p, type, x);
  if (x.c != expected) return state.SkipWithError("contract and oneDNN differ");
  double const operations =
      2e-9 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  for (auto _ : state) by_contract(p, type, x);
  double const ours = operations / least_seconds([&] { by_contract(p, type, x); });
  double const theirs = operations / least_seconds([&] { direct.run(); });
  double& reference = cube[{type, threads}];
  if (reference == 0) reference = ours;
  state.counters["GFLOP/s"] = ours;
  state.counters["direct"] = theirs;
  state.counters["share"] = ours / theirs;
  state.counters["of_cube"] = ours / reference;
}

}  // namespace

int main(int argc, char** argv) {
  for (dtype const type : {dtype::f32, dtype::bf16})
    for (int const threads : {1, 2})
      for (product const& p : products)
        benchmark::RegisterBenchmark(
            (std::string(name_of(type)) + "/" + std::to_string(threads) + "/" + p.name).c_str(),
            [&p, type, threads](benchmark::State& state) { run(state, p, type, threads); })
            ->UseRealTime()
            ->Iterations(3);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
