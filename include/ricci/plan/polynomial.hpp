#pragma once

#include <ricci/expr/given_extents.hpp>
#include <ricci/plan/statement.hpp>

#include <iosfwd>
#include <string>

namespace ricci {
namespace detail {

struct polynomial_term {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  std::int8_t power[max_symbols] = {};
};

/// `49152 batch seq + 12 batch`
std::string polynomial_text(polynomial_term const* terms, int count, axes_list axes);
std::ostream& print_polynomial(std::ostream& out, polynomial_term const* terms, int count,
                               axes_list axes);

constexpr std::int64_t value_of(polynomial_term const& term, std::int64_t const* extents,
                                int count) {
  std::int64_t product = term.numerator;
  for (int i = 0; i < count; ++i)
    for (int n = 0; n < term.power[i]; ++n) product = saturating_product(product, extents[i]);
  product /= term.denominator;
  for (int i = 0; i < count; ++i)
    for (int n = 0; n < -term.power[i]; ++n) product = extents[i] == 0 ? 0 : product / extents[i];
  return product;
}

/// refuse_by where a constant expression may come by: what it never calls is said once.
template <class Rule> constexpr void refuse_constant_by() {
  auto const say = [] { refuse_by<Rule>(); };
  (void)say;
}

/// The extents that a polynomial is evaluated with: each of its axes once.
template <class Axes, class... Given> struct evaluation_rule {
  static constexpr bool check(message* why) {
    if constexpr (!(is_axis<Given> && ...)) {
      if (why) *why << "at: an extent is given as an axis value: `.at(Batch{8})`";
      return false;
    } else {
      axes_list const wanted = axes_in<Axes>;
      axes_list const given = axes_in<pack<Given...>>;
      for (int i = 0; i < given.rank; ++i) {
        bool const is_twice = find_axis({given.axes, i}, given.axes[i]) >= 0;
        if (find_axis(wanted, given.axes[i]) >= 0 && !is_twice) continue;
        if (why) {
          *why << "at: an extent is given for axis ";
          why->quote(given.axes[i]->view())
              << (is_twice ? " twice" : ", which the cost does not depend on");
          if (!is_twice) {
            write_has(*why, wanted);
            suggest(*why, given.axes[i]->view(), wanted);
          }
        }
        return false;
      }
      for (int i = 0; i < wanted.rank; ++i) {
        if (find_axis(given, wanted.axes[i]) >= 0) continue;
        if (why) {
          *why << "at: the extent of axis ";
          why->quote(wanted.axes[i]->view()) << " is missing (the cost depends on: ";
          write_axes(*why, wanted);
          *why << ")";
        }
        return false;
      }
      return true;
    }
  }
};

/// The extents of the axes A, out of values in any order.
///   Errors  a negative one: shape_error (no constant expression)
template <class... A, class... Given>
constexpr void extents_at(pack<A...>, std::int64_t* extents, Given const&... given) {
  ((given.value < 0 ? check_given("at", &axis_info_of<Given>, given.value) : void()), ...);
  ((extents[place_in<Given>(pack<A...>{})] = given.value), ...);
}

}  // namespace detail

/// An exact number that depends on the extents of the axes A: a sum of products of extents. (The
/// parts of a split axis divide: their powers may be negative.)
///   Units  operations or bytes
template <class... A> struct polynomial {
  static constexpr int most = 48;
  int count = 0;
  detail::polynomial_term terms[most];

  /// The number for these extents, each axis once, in any order: `.at(Batch{8}, Seq{128})`.
  ///   Value   the largest number where it does not fit 63 bits
  ///   Errors  an axis missing, twice, or that the number does not depend on (compile time)
  template <class... Given> constexpr std::int64_t at(Given const&... given) const {
    using rule = detail::evaluation_rule<pack<A...>, Given...>;
    if constexpr (!detail::keeps<rule>) {
      detail::refuse_constant_by<rule>();
      return 0;
    } else {
      std::int64_t extents[sizeof...(A) + 1] = {};
      detail::extents_at(pack<A...>{}, extents, given...);
      std::int64_t sum = 0;
      for (int i = 0; i < count; ++i)
        sum = saturating_sum(sum, detail::value_of(terms[i], extents, sizeof...(A)));
      return sum;
    }
  }

  std::string text() const {
    return detail::polynomial_text(terms, count, {detail::axis_list<A...>, sizeof...(A)});
  }
  friend std::ostream& operator<<(std::ostream& out, polynomial const& p) {
    return detail::print_polynomial(out, p.terms, p.count, {detail::axis_list<A...>, sizeof...(A)});
  }
};

}  // namespace ricci
