#include <ricci/exec/threads.hpp>

#include <string>

#include <ricci/error/exceptions.hpp>

#include "kernels/parallel/parallel.hpp"

namespace ricci {

void set_threads(int count) {
  if (count < 1) throw value_error("set_threads: " + std::to_string(count) + " threads; at least one computes");
  kernels::set_threads(count);
}

int threads() { return kernels::threads(); }

}  // namespace ricci
