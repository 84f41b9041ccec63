#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "src/graph/value.hpp"

/// Private to src/graph: what a rule of differentiation sees.
namespace ricci::graph {

/// Collects what the values of one backward pass receive, and hands out the latest one first.
///   @pre  a rule adds to the inputs of its value only, so everything is complete when it comes up
class gradient_sink {
 public:
  /// Gradients of `leaves` go to `results`.
  gradient_sink(int level, handle const* leaves, int count, handle* results);

  int level() const { return level_; }
  /// Does x depend on the level's leaves?
  bool wants(handle const& x) const { return x->levels >> level_ & 1; }
  /// Adds to the gradient of x, where wanted.
  ///   @pre  the contribution has the axes of x in their order, and its dtype
  void add(handle const& x, handle contribution);

  struct entry {
    handle target;
    handle gradient;
  };
  bool is_empty() const { return pending_.empty(); }
  /// Expressions of the axes and extents of `like` that wait for ends of statements, newest first.
  int waiting(value const& like, value** found, int most) const;
  /// The newest value with a gradient: all that it went into came before.
  entry take_newest();

 private:
  int level_;
  std::map<std::int64_t, entry, std::greater<>> pending_;
  std::vector<std::pair<value const*, handle*>> leaves_;
};

/// The sum of two gradients of views of one value, as one value; none where they are not that.
handle joined_placings(handle const& first, handle const& second);

/// What each input of a pointwise value receives.
void pointwise_vjp(value& y, handle const& dy, gradient_sink& sink);
/// Does that read the elements of the value, or those of input `i`?
bool vjp_needs_result(opcode op);
bool vjp_needs_input(value const& y, int i);

}  // namespace ricci::graph
