#include "kernels/copy/copy.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <ricci/tensor/storage.hpp>

#include "kernels/parallel/parallel.hpp"

// Permutations beside memcpy of the same bytes, split over the same threads. The memory is that of
// tensors, with their pages.
namespace {

using namespace ricci;
namespace k = ricci::kernels;
using integers = std::vector<std::int64_t>;

struct permutation {
  char const* name;
  std::int64_t element_size;
  integers extents;        // of the target
  std::vector<int> order;  // of the source: its axes, slowest first, as axes of the target
};

std::vector<permutation> const all = {
    {"transposed_2048_2048_f32", 4, {2048, 2048}, {1, 0}},
    {"transposed_2000_2100_f32", 4, {2000, 2100}, {1, 0}},
    {"transposed_2047_2053_f32", 4, {2047, 2053}, {1, 0}},
    {"transposed_4096_4096_f32", 4, {4096, 4096}, {1, 0}},
    {"transposed_2048_1024_f64", 8, {2048, 1024}, {1, 0}},
    {"transposed_2112_4000_bf16", 2, {2112, 4000}, {1, 0}},
    {"transposed_4096_4160_u8", 1, {4096, 4160}, {1, 0}},
    {"batched_64_256_256_f32", 4, {64, 256, 256}, {0, 2, 1}},
    {"bshd_to_bhsd_64_f32", 4, {8, 8, 1024, 64}, {0, 2, 1, 3}},
    {"bshd_to_bhsd_64_bf16", 2, {8, 16, 1024, 64}, {0, 2, 1, 3}},
    {"bshd_to_bhsd_8_f32", 4, {8, 64, 1024, 8}, {0, 2, 1, 3}},
    {"bshd_to_bhds_64_f32", 4, {8, 8, 64, 1024}, {0, 3, 1, 2}},
    {"reversed_16_32_16_32_16_f32", 4, {16, 32, 16, 32, 16}, {4, 3, 2, 1, 0}},
    {"reversed_21_21_21_21_21_f32", 4, {21, 21, 21, 21, 21}, {4, 3, 2, 1, 0}},
    {"reversed_8_16_16_16_16_8_f32", 4, {8, 16, 16, 16, 16, 8}, {5, 4, 3, 2, 1, 0}},
    {"images_to_planes_f32", 4, {8, 3, 512, 512}, {0, 2, 3, 1}},
    {"transposed_512_512_f32", 4, {512, 512}, {1, 0}},
    {"transposed_64_64_f32", 4, {64, 64}, {1, 0}},
    {"transposed_8_8_f32", 4, {8, 8}, {1, 0}},
};

struct arrays {
  explicit arrays(permutation const& p) : to(p.extents.size()), from(p.extents.size()) {
    std::int64_t stride = 1;
    for (std::size_t axis = to.size(); axis-- > 0; stride *= p.extents[axis]) to[axis] = stride;
    count = stride;
    stride = 1;
    for (std::size_t at = p.order.size(); at-- > 0;) {
      auto const axis = static_cast<std::size_t>(p.order[at]);
      from[axis] = stride;
      stride *= p.extents[axis];
    }
    bytes = count * p.element_size;
    source = allocate(bytes, role::data);
    target = allocate(bytes, role::data);
    auto* const s = static_cast<unsigned char*>(source.data());
    for (std::int64_t i = 0; i < bytes; ++i)
      s[i] = static_cast<unsigned char>(i * 2654435761u >> 9);
    k::zero(target.data(), bytes);
  }
  bool is_right(permutation const& p) const {
    integers index(to.size());
    auto const* const t = static_cast<char const*>(target.data());
    auto const* const s = static_cast<char const*>(source.data());
    for (std::int64_t i = 0, at = 0; i < count; ++i) {
      if (std::memcmp(t + i * p.element_size, s + at * p.element_size,
                      static_cast<std::size_t>(p.element_size)) != 0)
        return false;
      for (std::size_t axis = to.size(); axis-- > 0;) {
        at += from[axis];
        if (++index[axis] < p.extents[axis]) break;
        at -= from[axis] * p.extents[axis];
        index[axis] = 0;
      }
    }
    return true;
  }
  integers to, from;
  std::int64_t count = 0, bytes = 0;
  storage_handle source, target;
};

void permute(benchmark::State& state, permutation const& p) {
  arrays const a(p);
  auto const run = [&] {
    k::copy(p.element_size, static_cast<int>(a.to.size()), p.extents.data(), a.target.data(),
            a.to.data(), a.source.data(), a.from.data());
  };
  run();
  if (!a.is_right(p)) return state.SkipWithError("wrong result");
  for (auto _ : state) run();
  state.SetBytesProcessed(state.iterations() * 2 * a.bytes);
}

void baseline(benchmark::State& state, permutation const& p) {
  arrays const a(p);
  auto* const t = static_cast<char*>(a.target.data());
  auto const* const s = static_cast<char const*>(a.source.data());
  std::int64_t const part = a.bytes < (256 << 10) ? a.bytes : (a.bytes - 1) / k::threads() + 1;
  for (auto _ : state) {
    k::parallel_chunks(a.bytes, part, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(t + begin, s + begin, static_cast<std::size_t>(end - begin));
    });
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * a.bytes);
}

void add(benchmark::State& state, dtype type, permutation const& p) {
  arrays const a(p);
  k::zero(a.source.data(), a.bytes);
  for (auto _ : state)
    k::add_into(type, static_cast<int>(a.to.size()), p.extents.data(), a.target.data(), a.to.data(),
                a.source.data(), a.from.data());
  state.SetBytesProcessed(state.iterations() * 3 * a.bytes);
}

permutation const in_order{"", 4, {4 << 20}, {0}}, in_order_2{"", 2, {8 << 20}, {0}};

int const registered = [] {
  for (permutation const& p : all) {
    std::string const name = p.name;
    benchmark::RegisterBenchmark((name + "/memcpy").c_str(), baseline, p)->UseRealTime();
    benchmark::RegisterBenchmark((name + "/copy").c_str(), permute, p)->UseRealTime();
  }
  benchmark::RegisterBenchmark("add_into_4M_f32", add, dtype::f32, in_order)->UseRealTime();
  benchmark::RegisterBenchmark("add_into_8M_bf16", add, dtype::bf16, in_order_2)->UseRealTime();
  benchmark::RegisterBenchmark("add_into_transposed_f32", add, dtype::f32, all[1])->UseRealTime();
  return 0;
}();

}  // namespace

BENCHMARK_MAIN();
