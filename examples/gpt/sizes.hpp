#pragma once

#include <cstdint>

namespace gpt {

/// What a model is made of.
struct Sizes {
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  std::int64_t width = 128;
  std::int64_t seq = 128;
};

// Counts are doubles: no size overflows them.

/// Numbers that training adjusts.
double parameter_count(Sizes const& sizes);
/// 6 N + 12 L C T: the multiplications and additions of a training step, a token; the usual count.
double operations_per_token(Sizes const& sizes);

/// Refuses sizes that no run can have: heads that do not divide the width, memory that training
/// with `batch` windows a step (0: only sampling) needs and the machine does not have.
void check(Sizes const& sizes, std::int64_t batch);

}  // namespace gpt
