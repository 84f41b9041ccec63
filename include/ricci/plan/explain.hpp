#pragma once

#include <ricci/expr/expression.hpp>
#include <ricci/plan/plan_step.hpp>

#include <iosfwd>
#include <memory>
#include <string>

namespace ricci {
namespace detail {
struct explained;
}  // namespace detail

/// What `explain` returns: the plan of a statement with the extents that it has. It streams as
/// text.
///   Memory  holds no operand alive
class explanation {
 public:
  explicit explanation(graph::handle const& x);

  /// A line a step: what runs, on which axes, who runs it, operations and bytes.
  std::string text() const;
  /// The same for programs: exact numbers, extents, candidates.
  std::string json() const;
  /// The same as a drawing, in Graphviz's language.
  std::string dot() const;

  plan_totals const& totals() const;
  int gemms() const { return totals().gemms; }
  int copies() const { return totals().copies; }
  int launches() const { return totals().launches; }
  int views() const { return totals().views; }
  int loops() const { return totals().loops; }
  int reductions() const { return totals().reductions; }
  int kernels() const { return totals().kernels; }
  std::int64_t operations() const { return totals().operations; }
  std::int64_t bytes() const { return totals().bytes; }
  std::int64_t temporary_bytes() const { return totals().temporary_bytes; }
  int step_count() const;
  plan_step const& step(int i) const;

  friend std::ostream& operator<<(std::ostream& out, explanation const& e);

 private:
  std::shared_ptr<detail::explained const> plan_;
};

/// What `tensor h = e` would run, and nothing is evaluated: per step the matrix product with its
/// axes, the fused loop, the reduction, the view or the copy, on which backend, with operations,
/// bytes and temporary bytes.
///   Axes    any name, const or not; a tensor has no steps
///   Cost    some microseconds a step
///   Errors  not a tensor, a view or an expression (compile time); empty: value_error
template <class E> [[nodiscard]] auto explain(E const& e) {
  using rule = detail::value_rule<"explain", E>;
  if constexpr (detail::is_poisoned<E>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    return explanation(e.handle());
  }
}

}  // namespace ricci
