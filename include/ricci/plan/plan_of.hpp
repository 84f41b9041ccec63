#pragma once

#include <ricci/plan/planner.hpp>
#include <ricci/plan/polynomial.hpp>
#include <ricci/plan/typed_statement.hpp>

namespace ricci {

/// A plan as numbers.
///   Memory  Steps steps; no text, so that it may stand in a static_assert everywhere
template <int Steps> struct plan : plan_totals {
  static constexpr int step_count = Steps;
  plan_step steps[Steps + 1]{};
};

namespace detail {

/// What planning an expression's type gives.
///   Most: at most so many steps
template <int Most, bool HasCosts> struct planned_type : plan_totals {
  plan_step steps[Most];
  int step_count = 0;
  monomial_sum costs[HasCosts ? 2 : 1];  // operations, bytes
};

template <class E, bool HasCosts>
constexpr auto planned(std::int64_t const* symbol_values = nullptr) {
  typed_statement<E> const typed(symbol_values);
  statement const& s = typed.s;
  constexpr int values = typed_statement<E>::room.values;
  live_value live[values];
  statement_storage storages[2 * values];
  statement_planner::frame frames[values + 1]{};
  // A contraction has at most two packs, the product and a permutation; others one step and copies
  // of up to three operands.
  planned_type<4 * values + 1, HasCosts> result;
  plan_record record;
  record.steps = result.steps;
  record.max_steps = 4 * values + 1;
  if (HasCosts) {
    record.operations = &result.costs[0];
    record.bytes = &result.costs[1];
  }
  statement_planner planner(s, live, storages, frames, record);
  static_cast<plan_totals&>(result) = planner.run();
  result.step_count = record.step_count;
  return result;
}

template <class E> inline constexpr auto planned_of = planned<E, false>();

template <class E> struct plan_rule {
  static constexpr bool check(message* why) {
    if constexpr (!is_node<E>) {
      if (why)
        *why
            << "plan_of, cost_of: the type is not that of a tensor, a view or an expression: write "
               "`decltype(e)`";
      return false;
    } else {
      constexpr int dynamic = symbols_of<pack<>, E>::type::size;
      if (dynamic <= max_symbols) return true;
      if (why)
        *why << "plan_of, cost_of: the expression has " << dynamic << " dynamic axes, at most "
             << max_symbols << " are planned while compiling; `explain` plans what runs";
      return false;
    }
  }
};

template <class E> constexpr auto trimmed_plan() {
  if constexpr (is_poisoned<E>) {
    return plan<0>{};
  } else if constexpr (!keeps<plan_rule<E>>) {
    refuse_constant_by<plan_rule<E>>();
    return plan<0>{};
  } else {
    constexpr auto const& all = planned_of<E>;
    plan<all.step_count> result;
    static_cast<plan_totals&>(result) = all;
    for (int i = 0; i < all.step_count; ++i) result.steps[i] = all.steps[i];
    return result;
  }
}

}  // namespace detail

/// The plan of an expression's type, as constants: how many matrix products, copies, launches,
/// views, loops and reductions, the temporary bytes at their peak, the steps.
///   Value   what src/graph runs for `tensor h = e` where e's result is no view. Operands of one
///           type count as different tensors that others hold too. Dynamic axes count as
///           nominal_extent where a choice or a number depends on them
///   Cost    for the compiler, some 10 ms a statement
///   Errors  not the type of a value (compile time)
template <class E> inline constexpr auto plan_of = detail::trimmed_plan<detail::bare<E>>();

}  // namespace ricci
