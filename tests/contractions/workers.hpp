#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace ricci::contractions {

/// Calls body(worker, begin, end) on parts of [0, n), one thread a part; results kept by worker.
/// Threads of these tests' own: what is tested brings a pool with it.
inline int workers() {
  static int const count = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return count;
}
template <class Body> void share(std::int64_t n, bool is_worth_threads, Body const& body) {
  if (!is_worth_threads || workers() == 1) return body(0, std::int64_t{0}, n);
  std::vector<std::jthread> threads;
  for (int w = 1; w < workers(); ++w)
    threads.emplace_back(
        [&, w] { body(w, n / workers() * w, w + 1 == workers() ? n : n / workers() * (w + 1)); });
  body(0, std::int64_t{0}, n / workers());
}

}  // namespace ricci::contractions
