#pragma once

#include <cstdint>

namespace ricci::optim {

/// Learning rate that rises linearly for `warmup` steps, then falls along half a cosine.
///   Value   step < warmup: peak (step + 1) / warmup; then from peak to floor, at `steps`; floor after
struct warmup_cosine {
  double peak;
  double floor;
  std::int64_t warmup;
  std::int64_t steps;

  [[nodiscard]] double operator()(std::int64_t step) const;
};

}  // namespace ricci::optim
