#pragma once

#include <ricci/expr/places.hpp>
#include <ricci/expr/rearrange.hpp>

/// Views of one value's own axes: they never copy. Of a tensor or a view they are views; of an expression, an expression.
namespace ricci {
namespace detail {

/// Writes the sentence of an axis whose extent does not fit another's.
constexpr void write_two_extents(message& m, std::string_view who, axis_info const* a, std::int64_t first,
                                 axis_info const* b, std::int64_t second) {
  m << who << ": axis ";
  m.quote(a->view()) << " has extent " << first << ", axis ";
  m.quote(b->view()) << " has extent " << second;
}

template <class X, class... A> struct permute_rule {
  static constexpr bool check(message* why) {
    if (!axes_of_operand_rule<"permute", X, A...>::check(why)) return false;
    if constexpr (!is_node<X> || !(is_axis<A> && ...)) {
      return true;
    } else if constexpr (sizeof...(A) == bare<X>::rank) {
      return true;
    } else {
      constexpr places left = places_without(axes_of_value<X>(), {axis_list<A...>, sizeof...(A)});
      if (why) {
        *why << "permute: axis ";
        why->quote(bare<X>::axes[left.at[0]]->view()) << " is not named (all axes are, in their new order)";
      }
      return false;
    }
  }
};

template <class X, class... A> constexpr places places_of() {
  places p;
  axis_info const* const wanted[] = {&axis_info_of<A>..., nullptr};
  for (int i = 0; i < static_cast<int>(sizeof...(A)); ++i) p.push(find_axis(axes_of_value<X>(), wanted[i]));
  return p;
}

/// Replaces axis From by the axes To... in a pack.
template <class All, class From, class... To> struct replaced;
template <class... All, class From, class... To> struct replaced<pack<All...>, From, To...> {
  template <class A> struct one { using type = pack<A>; };
  template <class A>
    requires same<A, From>
  struct one<A> { using type = pack<To...>; };
  using type = join<typename one<All>::type...>;
};
template <class All, class From, class... To> using replace = typename replaced<All, From, To...>::type;

template <class X, class From> constexpr int place_of_axis() {
  return find_axis(axes_of_value<X>(), &axis_info_of<From>);
}

}  // namespace detail

/// The axes in another order.
///   Axes    x: [A in any order] -> [A...], all of them named     Memory  a view     Grad  permuted back
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto permute(X&& x) {
  using rule = detail::permute_rule<X, A...>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    constexpr detail::places order = detail::places_of<X, A...>();
    constexpr layout l = permuted(detail::operand_layout<X>(), order.at);
    using result = detail::node_like<X, pack<A...>>;
    return detail::view_type<X, result, l, view_step::permute>(
        detail::make_node{},
        graph::permute(detail::operand(static_cast<X&&>(x)), {result::axes, result::rank}, order.at));
  }
}

/// Would permute<A...> take a value of the type X? (permute_ok<B, A, X>)
template <class... T> inline constexpr bool permute_ok = detail::asks<detail::permute_rule, T...>;

namespace detail {
template <class X, class From, class To> struct rename_rule {
  static constexpr bool check(message* why) {
    if (!axes_of_operand_rule<"rename", X, From>::check(why)) return false;
    if constexpr (is_node<X> && is_axis<From>) {
      if constexpr (!is_axis<To>) {
        if (why) *why << "rename: the types in < > are axes: rename<Seq, Key>(x)";
        return false;
      } else {
        if (From::static_extent >= 0 && To::static_extent >= 0 && From::static_extent != To::static_extent) {
          if (why)
            write_two_extents(*why, "rename", &axis_info_of<From>, From::static_extent, &axis_info_of<To>,
                              To::static_extent);
          return false;
        }
        return distinct_rule<"rename", replace<typename bare<X>::axes_type, From, To>>::check(why);
      }
    }
    return true;
  }
};
}  // namespace detail

/// One axis under another name.
///   Axes    x: [..., From, ...] -> [..., To, ...]     Memory  a view     Grad  renamed back
///   Errors  extents differ (compile time where static, else shape_error)
template <class From, class To, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto rename(X&& x) {
  using rule = detail::rename_rule<X, From, To>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using result = detail::node_like<X, detail::replace<typename detail::bare<X>::axes_type, From, To>>;
    constexpr layout l = detail::operand_layout<X>();
    return detail::view_type<X, result, l, view_step::rename>(
        detail::make_node{}, graph::rename(detail::operand(static_cast<X&&>(x)), {result::axes, result::rank}));
  }
}

/// Would rename<From, To> take a value of the type X?
template <class From, class To, class X> inline constexpr bool rename_ok = detail::keeps<detail::rename_rule<X, From, To>>;

namespace detail {
template <class X, class... A> using reverse_rule = one_axis_rule<"reverse", X, A...>;
}  // namespace detail

/// An axis backwards.
///   Axes    those of x     Memory  a view     Grad  reversed
template <class... A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto reverse(X&& x) {
  using rule = detail::reverse_rule<X, A...>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    constexpr int axis = detail::place_of_axis<X, detail::pack_element<0, A...>>();
    using result = detail::node_like<X, typename detail::bare<X>::axes_type>;
    constexpr layout l = reversed(detail::operand_layout<X>(), axis);
    return detail::view_type<X, result, l, view_step::reverse, axis>(detail::make_node{},
                                           graph::reverse(detail::operand(static_cast<X&&>(x)), axis));
  }
}

/// Would reverse<A> take a value of the type X?
template <class A, class X> inline constexpr bool reverse_ok = detail::keeps<detail::reverse_rule<X, A>>;

namespace detail {
template <class X, class Row, class Column, class Diagonal> struct diagonal_rule {
  static constexpr bool check(message* why) {
    if (!axes_of_operand_rule<"diagonal", X, Row, Column>::check(why)) return false;
    if constexpr (is_node<X> && is_axis<Row> && is_axis<Column>) {
      if constexpr (!is_axis<Diagonal>) {
        if (why) *why << "diagonal: the types in < > are axes: diagonal<Row, Column, Diagonal>(x)";
        return false;
      } else {
        constexpr std::int64_t r = Row::static_extent;
        constexpr std::int64_t c = Column::static_extent;
        constexpr std::int64_t d = Diagonal::static_extent;
        if (r >= 0 && c >= 0 && r != c) {
          if (why) write_two_extents(*why, "diagonal", &axis_info_of<Row>, r, &axis_info_of<Column>, c);
          return false;
        }
        constexpr std::int64_t known = r >= 0 ? r : c;
        if (d >= 0 && known >= 0 && d != known) {
          if (why)
            write_two_extents(*why, "diagonal", r >= 0 ? &axis_info_of<Row> : &axis_info_of<Column>, known,
                              &axis_info_of<Diagonal>, d);
          return false;
        }
        return distinct_rule<"diagonal", replace<replace<typename bare<X>::axes_type, Column>, Row, Diagonal>>::check(why);
      }
    }
    return true;
  }
};
}  // namespace detail

/// The diagonal of two axes of one extent, as an axis at Row's place.
///   Axes    x: [..., Row, ..., Column, ...] -> [..., Diagonal, ...]     Memory  a view
///   Grad    dy on the diagonal, else 0     Errors  the extents differ
template <class Row, class Column, class Diagonal, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto diagonal(X&& x) {
  using rule = detail::diagonal_rule<X, Row, Column, Diagonal>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    constexpr int row = detail::place_of_axis<X, Row>();
    constexpr int column = detail::place_of_axis<X, Column>();
    using without = detail::replace<typename detail::bare<X>::axes_type, Column>;
    using result = detail::node_like<X, detail::replace<without, Row, Diagonal>>;
    constexpr layout l = diagonal(detail::operand_layout<X>(), row, column);
    return detail::view_type<X, result, l, view_step::diagonal, row, column>(
        detail::make_node{},
        graph::diagonal(detail::operand(static_cast<X&&>(x)), {result::axes, result::rank}, row, column));
  }
}

/// Would diagonal<Row, Column, Diagonal> take a value of the type X?
template <class Row, class Column, class Diagonal, class X>
inline constexpr bool diagonal_ok = detail::keeps<detail::diagonal_rule<X, Row, Column, Diagonal>>;

}  // namespace ricci
