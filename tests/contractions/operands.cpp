#include "tests/contractions/operands.hpp"

#include <bit>
#include <cstdlib>
#include <new>

#include "tests/contractions/workers.hpp"

namespace ricci::contractions {
namespace {

std::byte* allocate(std::int64_t bytes) {
  void* const data = std::aligned_alloc(64, static_cast<std::size_t>(bytes / 64 + 1) * 64);
  if (data == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(data);
}

// The i-th number of the generator SplitMix64, begun at 0.
std::uint64_t bits(std::int64_t i) {
  std::uint64_t x = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

f64 number_of(std::uint64_t x, f64) {
  return static_cast<f64>(static_cast<std::int64_t>(x) >> 10) * 0x1p-53;
}
f32 number_of(std::uint64_t x, f32) {
  return static_cast<f32>(static_cast<std::int32_t>(x >> 32) >> 7) * 0x1p-24f;
}
bf16 number_of(std::uint64_t x, bf16) {
  f32 const number = static_cast<f32>(static_cast<std::int32_t>(x >> 32) >> 23) * 0x1p-8f;
  return bf16::from_bits(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16));
}

template <class T> void fill(T* data, std::int64_t count) {
  share(count, count > 100'000, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) data[i] = number_of(bits(i), T{});
  });
}

}  // namespace

random_numbers::random_numbers(dtype type, std::int64_t count)
    : bytes_(allocate(count * size_of(type)), std::free) {
  if (type == dtype::f64)
    fill(static_cast<f64*>(data()), count);
  else if (type == dtype::f32)
    fill(static_cast<f32*>(data()), count);
  else
    fill(static_cast<bf16*>(data()), count);
}

}  // namespace ricci::contractions
