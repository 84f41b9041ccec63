#pragma once

#include <vector>

#include "bench/peers/contestant.hpp"

/// The loops that one writes down first, as a contestant: one loop an index, the result's outside
/// in its order, the summed ones inside, extents constant; the outermost shared among the threads.
/// The loops are generated (generate.py).
namespace peers {

template <class T> using plain_function = void (*)(T const*, T const*, T*);
template <class T> using plain_table = std::map<std::string, plain_function<T>>;

template <class T> class plain_contestant : public contestant {
 public:
  plain_contestant(contraction const& c, plain_table<T> const& table)
      : a_(c.count(c.first)), b_(c.count(c.second)), r_(c.count(c.result)) {
    auto const found = table.find(c.text);
    if (found == table.end()) throw skipped("not among the cases that were compiled");
    function_ = found->second;
    fill(a_.data(), c.count(c.first), 0);
    fill(b_.data(), c.count(c.second), 1);
  }
  void run() override { function_(a_.data(), b_.data(), r_.data()); }
  std::vector<double> samples() override {
    return samples_of(r_.data(), static_cast<std::int64_t>(r_.size()));
  }

 private:
  std::vector<T> a_, b_, r_;
  plain_function<T> function_;
};

template <class T> int serve_plain(plain_table<T> const& table) {
  return serve({{"plain", [&](contraction const& c) {
                   return contestant_handle(new plain_contestant<T>(c, table));
                 }}});
}

}  // namespace peers
