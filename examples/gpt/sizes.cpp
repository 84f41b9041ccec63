#include "sizes.hpp"

#include <ricci/error/exceptions.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

namespace gpt {
namespace {

/// A lower bound of what a step holds at one time: nothing that fits is refused.
double bytes_needed(Sizes const& s, std::int64_t batch) {
  double const n = parameter_count(s);
  auto const width = static_cast<double>(s.width), seq = static_cast<double>(s.seq);
  if (batch == 0) return 4 * (n + seq * (9 * width + 256));
  double const tokens = static_cast<double>(batch) * seq;
  // Parameters, gradients and two moments; what every layer keeps for its gradient; the logits.
  return 4 * (4 * n + tokens * (static_cast<double>(s.layers) * 16 * width + 256));
}

/// The first number in a file, or infinity: `max`, no such file.
double number_in(char const* path) {
  double value = 0;
  return std::ifstream(path) >> value ? value : std::numeric_limits<double>::infinity();
}

/// Bytes that this process can get without another's being pushed out.
double bytes_available() {
  double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  std::ifstream facts("/proc/meminfo");
  for (std::string line; std::getline(facts, line);) {
    long long kilobytes = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %lld kB", &kilobytes) == 1)
      bytes = std::min(bytes, 1024.0 * static_cast<double>(kilobytes));
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, static_cast<double>(limit.rlim_cur));
  // A container's limit, of either version of control groups.
  return std::min({bytes, number_in("/sys/fs/cgroup/memory.max"),
                   number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
}

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GB", bytes / 1e9);
  return text;
}

}  // namespace

double parameter_count(Sizes const& s) {
  auto const layers = static_cast<double>(s.layers), width = static_cast<double>(s.width);
  return (256 + static_cast<double>(s.seq) + 2) * width + layers * width * (12 * width + 13);
}

double operations_per_token(Sizes const& s) {
  return 6 * parameter_count(s) + 12 * static_cast<double>(s.layers) *
                                      static_cast<double>(s.width) * static_cast<double>(s.seq);
}

void check(Sizes const& s, std::int64_t batch) {
  if (s.layers < 1 || s.heads < 1 || s.width < 1 || s.seq < 1)
    throw ricci::value_error("layers, heads, width and seq are 1 or more");
  if (s.width % s.heads != 0)
    throw ricci::value_error("--width " + std::to_string(s.width) +
                             " is not a multiple of --heads " + std::to_string(s.heads));
  double const needed = bytes_needed(s, batch), available = bytes_available();
  if (needed > available)
    throw ricci::value_error("these sizes need at least " + gigabytes(needed) + " of memory and " +
                             gigabytes(available) +
                             " are to be had; take a smaller --width, --layers, --seq or --batch");
}

}  // namespace gpt
