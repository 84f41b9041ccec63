#include <ricci/data/epoch_sampler.hpp>
#include <ricci/error/exceptions.hpp>
#include "kernels/random/philox.hpp"

#include <fmt/format.h>

#include <bit>

namespace ricci::data {
namespace {

constexpr int rounds = 8;  // four make a network as good as its round function; the rest is margin

std::uint64_t round_bits(std::uint64_t half, int round, std::uint64_t key) {
  auto const words =
      kernels::philox({{static_cast<std::uint32_t>(half), static_cast<std::uint32_t>(half >> 32),
                        static_cast<std::uint32_t>(round), 0}},
                      key);
  return words.word[0] | static_cast<std::uint64_t>(words.word[1]) << 32;
}

/// Where the permutation that the key names sends i, for 0 <= i < count.
std::int64_t permuted(std::uint64_t i, std::uint64_t count, std::uint64_t key) {
  if (count == 1) return 0;
  // The domain is 4^n values, fewer than 4 count: about four walks at most, on average.
  int const half_bits = (std::bit_width(count - 1) + 1) / 2;
  std::uint64_t const mask = (std::uint64_t{1} << half_bits) - 1;
  do {
    std::uint64_t left = i >> half_bits;
    std::uint64_t right = i & mask;
    for (int round = 0; round < rounds; ++round) {
      std::uint64_t const mixed = left ^ (round_bits(right, round, key) & mask);
      left = right;
      right = mixed;
    }
    i = left << half_bits | right;
  } while (i >= count);  // ends: the walk is a cycle of a permutation and began below count
  return static_cast<std::int64_t>(i);
}

}  // namespace

epoch_sampler::epoch_sampler(random::key key, std::int64_t samples, std::int64_t batch)
    : key_(key), samples_(samples), batch_(batch) {
  if (samples < 1 || batch < 1 || batch > samples) {
    throw value_error(
        fmt::format("epoch_sampler: {} samples in batches of {}; expected 1 <= batch <= samples",
                    samples, batch));
  }
}

void epoch_sampler::fill(std::int64_t step, std::span<std::int64_t> batch) const {
  if (step < 0) throw value_error(fmt::format("epoch_sampler: step {}; they begin at 0", step));
  if (static_cast<std::int64_t>(batch.size()) != batch_) {
    throw shape_error(fmt::format("epoch_sampler: room for {} samples and the batch has {}",
                                  batch.size(), batch_));
  }
  std::uint64_t const key = key_.fold(step / steps_per_epoch()).state();
  std::int64_t const first = step % steps_per_epoch() * batch_;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    batch[b] =
        permuted(static_cast<std::uint64_t>(first) + b, static_cast<std::uint64_t>(samples_), key);
  }
}

}  // namespace ricci::data
