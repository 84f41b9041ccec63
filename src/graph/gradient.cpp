#include "src/graph/gradient.hpp"

#include <algorithm>

#include <ricci/error/exceptions.hpp>

#include "src/graph/compose.hpp"
#include "src/graph/region.hpp"

namespace ricci::graph {
namespace {

// While the gradients of a level are computed, nothing is recorded for it.
class suppression {
 public:
  explicit suppression(int level) : before_(suppressed_levels()) {
    suppressed_levels() |= std::uint64_t{1} << level;
  }
  ~suppression() { suppressed_levels() = before_; }
  suppression(suppression const&) = delete;
  suppression& operator=(suppression const&) = delete;

 private:
  std::uint64_t before_;
};

// The gradient of a statement's end, together with others that read the same.
void evaluate_boundary(handle const& gradient, gradient_sink const& sink) {
  if (gradient->is_open()) {
    value* roots[4] = {gradient.get()};
    int const count = 1 + sink.waiting(*gradient.get(), roots + 1, 3);
    if (count > 1 && run_together(roots, count)) return;
  }
  evaluate(gradient);
}

// A gradient as its owner may write it: packed, in storage that nothing else sees. One that an
// outer level differentiates nobody may write, so it may be shared.
handle owned(handle gradient) {
  handle result = packed(std::exchange(gradient, handle()));
  if (result->levels == 0) result = unshared(std::move(result));
  result->storage.set_role(role::gradient);
  return result;
}

}  // namespace

gradient_sink::gradient_sink(int level, handle const* leaves, int count, handle* results)
    : level_(level) {
  leaves_.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) leaves_.emplace_back(leaves[i].get(), results + i);
  // Of a leaf that stands twice the first result counts; backward copies it for the other.
  std::sort(leaves_.begin(), leaves_.end(), [](auto const& a, auto const& b) {
    if (a.first != b.first) return std::less<>()(a.first, b.first);
    return std::less<>()(a.second, b.second);
  });
}

void gradient_sink::add(handle const& x, handle contribution) {
  if (!wants(x)) return;
  auto const leaf =
      std::lower_bound(leaves_.begin(), leaves_.end(), x.get(),
                       [](auto const& a, value const* b) { return std::less<>()(a.first, b); });
  if (leaf != leaves_.end() && leaf->first == x.get()) {
    // At once: a gradient that waited would keep alive what it is to be computed from.
    handle& gradient = *leaf->second;
    gradient = gradient ? plus(std::exchange(gradient, handle()), contribution) : contribution;
    contribution = handle();
    evaluate(gradient);
    if (gradient->storage.is_unique()) gradient->storage.set_role(role::gradient);
    return;
  }
  entry& at = pending_[x->sequence];
  if (!at.target) {
    at = {x, std::move(contribution)};
    return;
  }
  if (handle joined = joined_placings(at.gradient, contribution)) {
    at.gradient = std::move(joined);
    return;
  }
  // One contribution still to be computed joins the sum, where it can be the end of a contraction;
  // more of them would keep too much alive.
  if (!at.gradient->evaluated && !at.gradient->is_open()) evaluate(at.gradient);
  at.gradient = plus(std::exchange(at.gradient, handle()), contribution);
}

int gradient_sink::waiting(value const& like, value** found, int most) const {
  constexpr int looked_at = 8;
  int count = 0;
  int seen = 0;
  for (auto const& [sequence, at] : pending_) {
    if (count == most || ++seen > looked_at) break;
    value& v = *at.gradient.get();
    bool fits = v.is_open() && at.target->evaluated && v.rank == like.rank && &v != &like;
    for (int i = 0; fits && i < v.rank; ++i)
      fits = v.axes[i] == like.axes[i] && v.extents[i] == like.extents[i];
    for (int i = 0; fits && i < count; ++i) fits = found[i] != &v;
    if (fits) found[count++] = &v;
  }
  return count;
}

gradient_sink::entry gradient_sink::take_newest() {
  entry newest = std::move(pending_.begin()->second);
  pending_.erase(pending_.begin());
  return newest;
}

void backward(handle const& y, handle const& seed, handle const* leaves, int count,
              handle* gradients, level const& l) {
  for (int i = 0; i < count; ++i) gradients[i] = handle();
  value& top = evaluated(y);
  suppression const quiet(l.number());
  gradient_sink sink(l.number(), leaves, count, gradients);
  std::uint64_t const bit = std::uint64_t{1} << l.number();
  if (top.levels & bit) sink.add(y, seed ? seed : full(top.type, top.axes_of(), top.extents, 1, 1));
  while (!sink.is_empty()) {
    gradient_sink::entry const next = sink.take_newest();
    value& v = *next.target.get();
    // A statement's end: its gradient is computed here; inside a statement it stays an expression,
    // so that the gradient of a fused statement is one too.
    if (v.evaluated) evaluate_boundary(next.gradient, sink);
    if (v.computed_by == kind::pointwise)
      pointwise_vjp(v, next.gradient, sink);
    else if (v.how)
      v.how->vjp(v, next.gradient, sink);
    if (v.evaluated && (v.levels & ~bit) == 0) forget(v);
  }
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < i && !gradients[i]; ++j)
      if (leaves[j].get() == leaves[i].get()) gradients[i] = gradients[j];
    if (!gradients[i]) gradients[i] = zeros_like(leaves[i]);
    gradients[i] = owned(std::move(gradients[i]));
  }
}

handle stop_gradient(handle const& x) {
  value& v = checked(x);
  if (v.levels == 0) return x;
  handle result = alias(x, nullptr);
  forget(*result.get());
  return result;
}

}  // namespace ricci::graph
