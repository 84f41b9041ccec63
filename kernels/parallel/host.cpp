#include "kernels/parallel/parallel.hpp"

#include <omp.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system/omp/execution_policy.h>

#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <string>

#include <ricci/error/exceptions.hpp>

namespace ricci::kernels {
namespace {

// 0: not set, OpenMP's default holds.
std::atomic<int> chosen_threads{0};

/// The failure of the lowest index, so that what is rethrown does not depend on the schedule.
class first_failure {
 public:
  bool is_before(std::int64_t index) const noexcept {
    return lowest_.load(std::memory_order_relaxed) < index;
  }
  void record(std::int64_t index, std::exception_ptr failure) {
    std::lock_guard const guard(mutex_);
    if (index >= lowest_.load(std::memory_order_relaxed)) return;
    lowest_.store(index, std::memory_order_relaxed);
    failure_ = std::move(failure);
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::atomic<std::int64_t> lowest_{std::numeric_limits<std::int64_t>::max()};
  std::exception_ptr failure_;
  std::mutex mutex_;
};

}  // namespace

void parallel_for(std::int64_t n, function_ref<void(std::int64_t)> body) {
  if (n <= 1 || threads() == 1 || omp_in_parallel()) {
    for (std::int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  // OpenMP keeps its number of threads per calling thread, ours is one for the process.
  int const wanted = threads();
  if (omp_get_max_threads() != wanted) omp_set_num_threads(wanted);
  first_failure failure;
  thrust::for_each_n(thrust::omp::par, thrust::counting_iterator<std::int64_t>(0), n,
                     [&failure, body](std::int64_t i) {
                       if (failure.is_before(i)) return;
                       try {
                         body(i);
                       } catch (...) {
                         failure.record(i, std::current_exception());
                       }
                     });
  failure.rethrow();
}

void parallel_chunks(std::int64_t n, std::int64_t grain,
                     function_ref<void(std::int64_t, std::int64_t)> body) {
  if (grain < 1)
    throw value_error("parallel_chunks: grain is " + std::to_string(grain) +
                      "; a range needs at least one element.");
  if (n <= 0) return;
  std::int64_t const chunks = (n - 1) / grain + 1;
  parallel_for(chunks, [&](std::int64_t chunk) {
    std::int64_t const begin = chunk * grain;
    body(begin, n - begin < grain ? n : begin + grain);
  });
}

void set_threads(int n) {
  if (n < 1)
    throw value_error("set_threads: got " + std::to_string(n) +
                      " threads; a parallel loop needs at least one.");
  chosen_threads.store(n, std::memory_order_relaxed);
  omp_set_num_threads(n);
}

int threads() {
  int const chosen = chosen_threads.load(std::memory_order_relaxed);
  return chosen > 0 ? chosen : omp_get_max_threads();
}

}  // namespace ricci::kernels
