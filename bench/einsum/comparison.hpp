#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <ricci/exec/threads.hpp>
#include <ricci/ricci.hpp>
#if __has_include(<ricci/plan/explain.hpp>)
#include <ricci/plan/explain.hpp>
#define RICCI_HAS_EXPLAIN 1
#else
#define RICCI_HAS_EXPLAIN 0
#endif

/// What a program of einsum.sh does with its einsum: the same contraction run in several ways, the
/// results compared, then timed by turns. Prints one JSON object.
namespace bench {

/// Small numbers that every dtype holds exactly, another sequence for each operand.
template <class T> T value_of(int operand, std::int64_t i) {
  std::int64_t const number = i * (operand % 2 == 0 ? 37 : 53) % (operand % 2 == 0 ? 7 : 5);
  return static_cast<T>(static_cast<float>(number - 2));
}

/// An operand of the axes A...
template <class T, class... A, class... Given> auto operand(int which, Given... given) {
  std::int64_t count = 0;
  {
    ricci::tensor const like = ricci::zeros<T, A...>(given...);
    count = static_cast<std::int64_t>(like.values().size());
  }
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    values[static_cast<std::size_t>(i)] = value_of<T>(which, i);
  ricci::tensor x = ricci::from<T, A...>(std::span<T const>(values), given...);
  return x;
}

class comparison {
 public:
  ///   budget  seconds for all that is timed
  comparison(int threads, double budget) : budget_(budget) { ricci::set_threads(threads); }

  /// Make: makes the einsum. Without a name: as the library chooses.
  template <class Make> void add(std::string name, Make make) {
    run x;
    x.name = std::move(name);
    x.once = [make] {
      auto const begin = clock::now();
      ricci::tensor r = make();
      return std::chrono::duration<double>(clock::now() - begin).count();
    };
    x.sample = [make] {
      ricci::tensor r = make();
      auto const values = r.values();
      std::vector<double> samples;
      std::size_t const step = std::max<std::size_t>(1, values.size() / 4099);
      for (std::size_t i = 0; i < values.size(); i += step)
        samples.push_back(static_cast<double>(static_cast<float>(values[i])));
      return samples;
    };
#if RICCI_HAS_EXPLAIN
    auto const e = make();
    auto const plan = ricci::explain(e);
    x.plan = plan.text();
    for (int i = 0; i < plan.step_count(); ++i)
      if (plan.step(i).lowering != ricci::lowering_code::automatic)
        x.lowering = ricci::name_of(plan.step(i).lowering);
    x.facts = {{"gemms", plan.gemms()},       {"copies", plan.copies()},
               {"launches", plan.launches()}, {"operations", plan.operations()},
               {"bytes", plan.bytes()},       {"temporary_bytes", plan.temporary_bytes()}};
#endif
    runs_.push_back(std::move(x));
  }

  int print() {
    compare();
    measure();
    nlohmann::ordered_json out;
    out["plan"] = runs_[0].plan;
    for (run& x : runs_) {
      std::sort(x.seconds.begin(), x.seconds.end());
      nlohmann::ordered_json one{{"name", x.name}, {"lowering", x.lowering}};
      one.update(x.facts);
      if (x.seconds.empty()) {
        one["wrong"] = true;
      } else {
        one["us"] = x.seconds[x.seconds.size() / 2] * 1e6;
        one["best_us"] = x.seconds[0] * 1e6;
        one["runs"] = x.seconds.size();
      }
      one["plan"] = x.plan;
      out["runs"].push_back(one);
    }
    std::cout << out.dump() << std::endl;
    return 0;
  }

 private:
  using clock = std::chrono::steady_clock;
  struct run {
    std::string name, plan, lowering;
    nlohmann::ordered_json facts = nlohmann::ordered_json::object();
    std::function<double()> once;
    std::function<std::vector<double>()> sample;
    std::vector<double> seconds;
    bool is_right = true;
  };

  void compare() {
    std::vector<double> const expected = runs_[0].sample();
    double largest = 0;
    for (double const x : expected) largest = std::max(largest, std::abs(x));
    for (run& x : runs_) {
      std::vector<double> const samples = x.sample();
      for (std::size_t i = 0; i < samples.size(); ++i)
        if (!(std::abs(samples[i] - expected[i]) <= 0.02 * largest)) x.is_right = false;
    }
  }

  // By turns, so that the noise of the machine meets all alike; what is far behind is left out
  // after three turns.
  void measure() {
    double total = 0;
    for (int turn = 0; turn < 3 || (total < budget_ && turn < 2000); ++turn) {
      double best = 1e9;
      for (run const& x : runs_)
        for (double const s : x.seconds) best = std::min(best, s);
      for (run& x : runs_) {
        if (!x.is_right || (turn >= 3 && x.seconds[0] > 20 * best)) continue;
        x.seconds.push_back(x.once());
        total += x.seconds.back();
      }
    }
  }

  double budget_;
  std::vector<run> runs_;
};

}  // namespace bench
