#include "src/graph/compose.hpp"
#include "src/graph/gradient.hpp"

#include <memory>
#include <unordered_set>
#include <vector>

namespace ricci::graph {
namespace {

std::int64_t newest_sequence() {
  // Every value made from here on has a larger number.
  return new_value(dtype::f32, {nullptr, 0})->sequence;
}

struct custom_rule final : operation {
  explicit custom_rule(callback* rule) : rule(rule) {}
  std::unique_ptr<callback> rule;
  void compute(value&) const override {}
  void vjp(value& y, handle const& dy, gradient_sink& sink) const override {
    if (sink.wants(y.inputs[0])) sink.add(y.inputs[0], rule->call(y.inputs[0], same(y), dy));
  }
};

struct recompute_rule final : operation {
  explicit recompute_rule(std::unique_ptr<callback> body) : body(std::move(body)) {}
  std::unique_ptr<callback> body;
  void compute(value&) const override {}
  bool needs_result() const override { return false; }
  // The body runs again, recorded for this level, and its graph joins the pass: its values are
  // newer than all others, so they come up next, and what they reach before the body is reached
  // as it would have been without.
  void vjp(value& y, handle const& dy, gradient_sink& sink) const override {
    std::uint64_t const before = suppressed_levels();
    suppressed_levels() &= ~(std::uint64_t{1} << sink.level());
    handle again;
    try {
      again = body->call(y.inputs[0], {}, {});
      evaluate(again);
    } catch (...) {
      suppressed_levels() = before;
      throw;
    }
    suppressed_levels() = before;
    sink.add(again, dy);
  }
};

// The values made before `start` that the graph of y reaches first.
std::vector<handle> frontier(handle const& y, std::int64_t start) {
  std::vector<handle> found;
  std::vector<value*> stack{y.get()};
  std::unordered_set<value*> seen{y.get()};
  while (!stack.empty()) {
    value* const v = stack.back();
    stack.pop_back();
    if (v->sequence <= start) {
      found.push_back(same(*v));
      continue;
    }
    for (int i = 0; i < v->input_count; ++i) {
      value* const in = v->inputs[i].get();
      if (in->levels != 0 && seen.insert(in).second) stack.push_back(in);
    }
  }
  return found;
}

}  // namespace

handle custom_vjp(handle const& x, handle const& y, callback* rule) {
  auto how = std::make_unique<custom_rule>(rule);
  evaluate(x);
  handle const result = alias(stop_gradient(y), std::move(how));
  value& v = *result.get();
  v.inputs[0] = x;
  finish(v);
  if (v.levels == 0) forget(v);
  return result;
}

handle recompute(handle const& x, callback* body) {
  std::unique_ptr<callback> owned(body);
  evaluate(x);
  std::int64_t const start = newest_sequence();
  handle const y = owned->call(x, {}, {});
  evaluate(y);
  if (y->levels == 0) return y;
  std::vector<handle> reached = frontier(y, start);
  handle const result = alias(stop_gradient(y), std::make_unique<recompute_rule>(std::move(owned)));
  value& v = *result.get();
  std::size_t const count = reached.size() + 1;
  v.inputs[0] = handle();
  v.input_count = static_cast<std::int16_t>(count);
  if (count > value::small_inputs) v.inputs = new handle[count];
  v.inputs[0] = x;
  for (std::size_t i = 0; i + 1 < count; ++i) v.inputs[i + 1] = std::move(reached[i]);
  finish(v);
  return result;
}

}  // namespace ricci::graph
