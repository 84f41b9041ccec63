#include <ricci/data/epoch_sampler.hpp>
#include <ricci/error/exceptions.hpp>

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace ricci;
using data::epoch_sampler;
using random::key;

namespace {

std::vector<std::int64_t> batch_of(epoch_sampler const& sampler, std::int64_t step) {
  std::vector<std::int64_t> batch(static_cast<std::size_t>(sampler.batch()));
  sampler.fill(step, batch);
  return batch;
}

}  // namespace

TEST_CASE("epoch_sampler: stopped in the second epoch, the others are those of the whole run") {
  std::vector<std::vector<std::int64_t>> whole;
  epoch_sampler const sampler(key(42), 64, 4);
  REQUIRE(sampler.steps_per_epoch() == 16);
  for (std::int64_t step = 0; step < 32; ++step) whole.push_back(batch_of(sampler, step));
  epoch_sampler const resumed(key(42), 64, 4);
  std::vector<int> seen(64);
  for (std::int64_t step = 16; step < 32; ++step) {
    auto const batch = batch_of(resumed, step);
    CHECK(batch == whole[static_cast<std::size_t>(step)]);
    for (auto const sample : batch) ++seen[static_cast<std::size_t>(sample)];
  }
  CHECK(seen == std::vector<int>(64, 1));
}

TEST_CASE("epoch_sampler: every number of samples is permuted, otherwise in each epoch") {
  for (std::int64_t samples = 1; samples <= 130; ++samples) {
    epoch_sampler const sampler(key(7), samples, samples);
    std::vector<int> seen(static_cast<std::size_t>(samples));
    auto const first = batch_of(sampler, 0);
    for (auto const sample : first) {
      REQUIRE(sample >= 0);
      REQUIRE(sample < samples);
      ++seen[static_cast<std::size_t>(sample)];
    }
    CHECK(seen == std::vector<int>(static_cast<std::size_t>(samples), 1));
    if (samples > 20) {
      CHECK(first != batch_of(sampler, 1));
      CHECK(first != batch_of(epoch_sampler(key(8), samples, samples), 0));
    }
  }
}

TEST_CASE("epoch_sampler: a batch that does not divide leaves others out in each epoch") {
  epoch_sampler const sampler(key(1), 10, 4);
  CHECK(sampler.steps_per_epoch() == 2);
  std::vector<int> seen(10);
  for (std::int64_t step = 0; step < 2 * 50; ++step) {
    for (auto const sample : batch_of(sampler, step)) ++seen[static_cast<std::size_t>(sample)];
  }
  for (int const times : seen) {
    CHECK(times <= 50);
    CHECK(times > 25);
  }
}

TEST_CASE("epoch_sampler: every sample comes at every place as often") {
  constexpr std::int64_t samples = 6;
  constexpr int epochs = 6000;
  std::array<std::array<int, samples>, samples> seen{};
  epoch_sampler const sampler(key(9), samples, samples);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    auto const order = batch_of(sampler, epoch);
    for (std::size_t place = 0; place < samples; ++place) {
      ++seen[place][static_cast<std::size_t>(order[place])];
    }
  }
  double chi_square = 0;
  for (auto const& row : seen) {
    for (int const times : row) chi_square += (times - 1000.0) * (times - 1000.0) / 1000.0;
  }
  CHECK(chi_square < 52.6);  // 25 degrees of freedom: one key in a thousand is above
}

TEST_CASE("epoch_sampler: steps and samples beyond 2^32") {
  std::int64_t const samples = (std::int64_t{1} << 40) + 12345;
  epoch_sampler const sampler(key(1), samples, 8);
  auto const batch = batch_of(sampler, sampler.steps_per_epoch() * 3 + 100);
  for (auto const sample : batch) {
    CHECK(sample >= 0);
    CHECK(sample < samples);
  }
  CHECK(batch[0] != batch[1]);
  CHECK(batch == batch_of(sampler, sampler.steps_per_epoch() * 3 + 100));
}

TEST_CASE("epoch_sampler: numbers that make no epoch") {
  CHECK_THROWS_AS(epoch_sampler(key(1), 0, 1), value_error);
  CHECK_THROWS_AS(epoch_sampler(key(1), 4, 0), value_error);
  CHECK_THROWS_AS(epoch_sampler(key(1), 4, 5), value_error);
  CHECK_THROWS_AS(epoch_sampler(key(1), -4, -4), value_error);
  epoch_sampler const sampler(key(1), 4, 2);
  CHECK_THROWS_AS(batch_of(sampler, -1), value_error);
  std::vector<std::int64_t> three(3);
  CHECK_THROWS_AS(sampler.fill(0, three), shape_error);
}
