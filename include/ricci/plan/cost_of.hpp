#pragma once

#include <ricci/plan/plan_of.hpp>

namespace ricci {
namespace detail {

template <class E> inline constexpr auto costs_of = planned<E, true>();

/// Which dynamic axes do the costs depend on? Bit i: the i-th of the statement's symbols.
template <class E> constexpr std::uint32_t used_symbols() {
  std::uint32_t used = 0;
  for (monomial_sum const& sum : costs_of<E>.costs)
    for (int t = 0; t < sum.count; ++t)
      for (int i = 0; i < max_symbols; ++i)
        if (sum.terms[t].power[i] != 0) used |= std::uint32_t{1} << i;
  return used;
}

template <class Symbols, std::uint32_t Used> constexpr places used_places() {
  places result;
  for (int i = 0; i < Symbols::size; ++i)
    if (Used >> i & 1) result.push(i);
  return result;
}

template <class... A>
constexpr polynomial<A...> polynomial_of(monomial_sum const& sum, places const& used) {
  static_assert(polynomial<A...>::most == monomial_sum::capacity);
  polynomial<A...> result;
  result.count = sum.count;
  for (int t = 0; t < sum.count; ++t) {
    result.terms[t].numerator = sum.terms[t].numerator;
    result.terms[t].denominator = sum.terms[t].denominator;
    for (int i = 0; i < used.count; ++i) result.terms[t].power[i] = sum.terms[t].power[used.at[i]];
  }
  return result;
}

/// A number of a plan as it is for given extents: the statement is planned anew, as the order of a
/// contraction and its copies may depend on them.
template <class E, std::int64_t plan_totals::* Number, class Axes> struct number_at;
template <class E, std::int64_t plan_totals::* Number, class... A>
struct number_at<E, Number, pack<A...>> {
  template <class... Given> constexpr std::int64_t at(Given const&... given) const {
    using rule = evaluation_rule<pack<A...>, Given...>;
    if constexpr (!keeps<rule>) {
      refuse_constant_by<rule>();
      return 0;
    } else {
      using symbols = typename typed_statement<E>::symbols;
      std::int64_t extents[symbols::size + 1] = {};
      for (int i = 0; i < symbols::size; ++i) extents[i] = nominal_extent;
      extents_at(symbols{}, extents, given...);
      return planned<E, false>(extents).*Number;
    }
  }
};

/// A polynomial, that of the plan at nominal extents.
template <class E, std::int64_t plan_totals::* Number, class... A> struct polynomial_at
    : polynomial<A...> {
  template <class... Given> constexpr std::int64_t at(Given const&... given) const {
    return number_at<E, Number, pack<A...>>().at(given...);
  }
};

template <class E, class Axes> struct expression_cost;
template <class E, class... A> struct expression_cost<E, pack<A...>> {
  polynomial_at<E, &plan_totals::operations, A...> operations;
  polynomial_at<E, &plan_totals::bytes, A...> bytes;
  number_at<E, &plan_totals::temporary_bytes, pack<A...>> temporary_bytes;
};
template <class E> struct expression_cost<E, pack<>> {
  std::int64_t operations;
  std::int64_t bytes;
  std::int64_t temporary_bytes;
};

template <class E, class... A> constexpr auto cost_in(pack<A...>, places const& used) {
  auto const& all = costs_of<E>;
  if constexpr (sizeof...(A) == 0)
    return expression_cost<E, pack<>>{all.operations, all.bytes, all.temporary_bytes};
  else
    return expression_cost<E, pack<A...>>{
        {polynomial_of<A...>(all.costs[0], used)}, {polynomial_of<A...>(all.costs[1], used)}, {}};
}

template <class E> constexpr auto cost_of_node() {
  using symbols = typename typed_statement<E>::symbols;
  static_assert(costs_of<E>.costs[0].is_whole && costs_of<E>.costs[1].is_whole,
                "cost_of: the costs are sums of at most 48 products of dynamic extents");
  constexpr places used = used_places<symbols, used_symbols<E>()>();
  return cost_in<E>(pick<symbols, used>{}, used);
}

template <class E> constexpr auto cost() {
  if constexpr (is_poisoned<E>) {
    return expression_cost<E, pack<>>{};
  } else if constexpr (!keeps<plan_rule<E>>) {
    refuse_constant_by<plan_rule<E>>();
    return expression_cost<E, pack<>>{};
  } else {
    return cost_of_node<E>();
  }
}

}  // namespace detail

/// What an expression costs, exactly, from its type: `.operations` and `.bytes` (each operand of
/// each step read once, each result written once), and the peak of its temporary bytes.
///   Value   numbers where all extents are static; else polynomials in the dynamic axes of the
///           tensors read (and of axes made by value), with .at(Batch{8}, Seq{128}). An axis has
///           one extent in all operands. The polynomials are those of plan_of, whose order and
///           copies may depend on extents; .at(...) is what runs for these
///   Units   operations as in plan/operations.hpp: two for each product of a contraction, one an
///           element for elementwise operations and reductions, none for copies and gathers
///   Errors  not the type of a value (compile time)
template <class E> inline constexpr auto cost_of = detail::cost<detail::bare<E>>();

}  // namespace ricci
