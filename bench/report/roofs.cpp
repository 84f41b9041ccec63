// What the machine can do at most, measured: multiply-adds in registers, a large matrix product by
// oneDNN, copies of several sizes. Prints one JSON object; the roofs of every roofline here.
// usage: roofs [THREADS]

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <oneapi/dnnl/dnnl.hpp>

#include <ricci/exec/threads.hpp>
#include <ricci/tensor/storage.hpp>

#include "kernels/parallel/parallel.hpp"

namespace {

using namespace ricci;

double seconds_of(auto const& f) {
  auto const begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The least of what fits into the budget, five at least: what the machine can, not what it does.
double least_seconds(auto const& f, double budget = 0.15) {
  f();
  double least = 1e9, total = 0;
  for (int i = 0; i < 5 || total < budget; ++i) {
    double const seconds = seconds_of(f);
    least = std::min(least, seconds);
    total += seconds;
  }
  return least;
}

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

// Twelve chains of multiply-adds hide the latency of each.
template <class T> double fma_gflops() {
  typedef T vector __attribute__((vector_size(vector_bytes)));
  constexpr std::int64_t steps = 1 << 20;
  constexpr int chains = 12;
  std::vector<T> kept(static_cast<std::size_t>(threads()));
  auto const chain = [&](std::int64_t thread) {
    vector x[chains];
    for (int c = 0; c < chains; ++c) x[c] = vector{} + static_cast<T>(c + 1);
    vector scale = vector{} + T(0.999999);
    vector shift = vector{} + T(1e-6);
    asm volatile("" : "+v"(scale), "+v"(shift));
    for (std::int64_t i = 0; i < steps; ++i)
#pragma GCC unroll 12
      for (int c = 0; c < chains; ++c) x[c] = x[c] * scale + shift;
    vector sum{};
    for (int c = 0; c < chains; ++c) sum += x[c];
    kept[static_cast<std::size_t>(thread)] = sum[0];
  };
  double const seconds = least_seconds([&] { kernels::parallel_for(threads(), chain); });
  if (kept[0] == T(-1)) std::cerr << "";  // never: keeps the sums alive
  return 2.0 * chains * (vector_bytes / sizeof(T)) * steps * threads() / seconds * 1e-9;
}

double gemm_gflops(dtype type, std::int64_t n) {
  using memory = dnnl::memory;
  dnnl::engine const engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  memory::desc const square({n, n},
                            type == dtype::bf16 ? memory::data_type::bf16 : memory::data_type::f32,
                            memory::dims{n, 1});
  std::vector<storage_handle> data;
  for (int i = 0; i < 3; ++i) {
    data.push_back(allocate(checked_bytes(n * n, type), role::data));
    std::memset(data.back().data(), 0, static_cast<std::size_t>(data.back().bytes()));
  }
  dnnl::matmul matmul({{square, square, square}, engine});
  std::unordered_map<int, memory> const arguments{
      {DNNL_ARG_SRC, memory(square, engine, data[0].data())},
      {DNNL_ARG_WEIGHTS, memory(square, engine, data[1].data())},
      {DNNL_ARG_DST, memory(square, engine, data[2].data())}};
  double const seconds = least_seconds([&] {
    matmul.execute(stream, arguments);
    stream.wait();
  });
  return 2e-9 * static_cast<double>(n * n * n) / seconds;
}

// Gigabytes a second, read and written, of a copy between two arrays of half so many bytes.
double copy_rate(std::int64_t bytes) {
  std::int64_t const half = bytes / 2;
  storage_handle const from = allocate(half, role::data);
  storage_handle const to = allocate(half, role::data);
  std::memset(from.data(), 1, static_cast<std::size_t>(half));
  auto* const t = static_cast<char*>(to.data());
  auto const* const f = static_cast<char const*>(from.data());
  std::int64_t const part = (half - 1) / threads() + 1;
  double const seconds = least_seconds([&] {
    kernels::parallel_chunks(half, part, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(t + begin, f + begin, static_cast<std::size_t>(end - begin));
    });
    asm volatile("" : : "r"(t) : "memory");
  });
  return static_cast<double>(2 * half) / seconds * 1e-9;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count > 1) set_threads(std::stoi(arguments[1]));
  nlohmann::ordered_json roofs;
  roofs["threads"] = threads();
  roofs["vector_bits"] = 8 * vector_bytes;
  roofs["fma_gflops"] = {{"f32", fma_gflops<float>()}, {"f64", fma_gflops<double>()}};
  roofs["gemm_gflops"] = {{"f32", gemm_gflops(dtype::f32, 2048)},
                          {"bf16", gemm_gflops(dtype::bf16, 2048)}};
  for (std::int64_t bytes = 256 << 10; bytes <= 256 << 20; bytes *= 4)
    roofs["copy_gbs"].push_back({bytes, copy_rate(bytes)});
  std::cout << roofs.dump() << std::endl;
} catch (std::exception const& fault) {
  std::cerr << "roofs: " << fault.what() << "\nusage: roofs [THREADS]\n";
  return 2;
}
