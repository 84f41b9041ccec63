#pragma once

#include <cstdint>

#include <ricci/tensor/function_ref.hpp>

namespace ricci::kernels {

/// Calls body(0), ..., body(n - 1), each once, on the threads of the one pool.
///   Value   the calls may run in any order and at the same time; the function returns after all
///   Cost    a few microseconds to wake the pool; inline on the calling thread when n <= 1, when
///           one thread is set, or when called from inside such a loop
///   Errors  an exception of body is rethrown here, the one of the lowest index; indices above it
///           may be skipped
void parallel_for(std::int64_t n, function_ref<void(std::int64_t)> body);

/// Calls body(begin, end) for the ranges [0, grain), [grain, 2 grain), ... up to n.
///   Value   the ranges depend on n and grain alone, never on the number of threads, so partial
///           results kept per range combine to the same bits at any thread count
///   Errors  value_error when grain < 1
void parallel_chunks(std::int64_t n, std::int64_t grain,
                     function_ref<void(std::int64_t, std::int64_t)> body);

/// Sets how many threads parallel loops use, for all calling threads.
///   Errors  value_error when n < 1
void set_threads(int n);

/// How many threads a parallel loop uses: the last set_threads, otherwise OpenMP's default.
[[nodiscard]] int threads();

}  // namespace ricci::kernels
