#pragma once

#include <atomic>

namespace ricci::graph {

/// A lock for a few instructions: uncontended it costs one exchange.
class spinlock {
 public:
  void lock() noexcept {
    while (taken_.test_and_set(std::memory_order_acquire)) {
      while (taken_.test(std::memory_order_relaxed)) {
      }
    }
  }
  void unlock() noexcept { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
};

}  // namespace ricci::graph
