#pragma once

#include "sizes.hpp"

#include <cstdint>
#include <string>

namespace gpt {

/// What the command line says.
struct Options {
  std::string data;
  Sizes sizes;
  std::int64_t batch = 16;
  std::int64_t steps = 1000;
  std::int64_t warmup = 100;
  double learning_rate = 1e-3;
  std::uint64_t seed = 0;
  int threads = 0;  // 0: all cores
  std::int64_t evaluation_batches = 20;
  std::int64_t evaluate_every = 100;
  std::int64_t save_every = 100;
  std::string checkpoint = "gpt.safetensors";
  bool resume = false;
  bool new_schedule = false;
  bool new_data = false;
  std::int64_t sample = 400;
  bool sample_only = false;
  std::string prompt = "\n";
  double temperature = 0.8;
  std::string metrics = "metrics.jsonl";
  std::string picture = "loss.svg";
};

/// Reads the command line. --help ends the program with status 0, a mistake with a line and
/// status 2.
Options parse(int argc, char** argv);

}  // namespace gpt
