#pragma once

#include <ricci/tensor/random.hpp>

#include <cstdint>
#include <span>

namespace ricci::data {

/// The order in which the samples of a data set are visited, epoch after epoch.
///   Value   batch `step` is a pure function of key, samples, batch and step: resuming needs the
///           step alone. In an epoch no sample comes twice, and each comes once when batch divides
///           samples; otherwise samples mod batch of them, others in each epoch, stay out
///   Memory  none: the permutation is computed, not stored
///   Errors  value_error: samples or batch under 1, batch over samples, a negative step
///   Source  balanced Feistel network over the next even power of two, walked until the value is a
///           sample (Black and Rogaway 2002, "Ciphers with arbitrary finite domains", method 2)
class epoch_sampler {
 public:
  epoch_sampler(random::key key, std::int64_t samples, std::int64_t batch);

  [[nodiscard]] std::int64_t samples() const { return samples_; }
  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] std::int64_t steps_per_epoch() const { return samples_ / batch_; }

  /// batch: [batch()], the samples of the step counted from the beginning of training.
  void fill(std::int64_t step, std::span<std::int64_t> batch) const;

 private:
  random::key key_;
  std::int64_t samples_;
  std::int64_t batch_;
};

}  // namespace ricci::data
