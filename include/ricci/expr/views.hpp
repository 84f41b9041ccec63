#pragma once

#include <ricci/expr/places.hpp>
#include <ricci/expr/rearrange.hpp>

/// Views: they never copy. Of a tensor or a view they are views; of an expression, an expression.
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

/// The axes that a view would have are all different.
template <class Axes> struct distinct_rule;
template <class... A> struct distinct_rule<pack<A...>> : axes_rule<A...> {};

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
    return detail::view_type<X, result, l>(
        detail::make_node{},
        graph::permute(detail::operand(static_cast<X&&>(x)), {result::axes, result::rank}, order.at));
  }
}

namespace detail {
template <class X, class From, class To> struct rename_rule {
  static constexpr bool check(message* why) {
    if (!axes_of_operand_rule<"rename", X, From>::check(why)) return false;
    if constexpr (is_node<X> && is_axis<From>) {
      if constexpr (!is_axis<To>) {
        if (why) *why << "rename: the new name is not an axis";
        return false;
      } else {
        if (From::static_extent >= 0 && To::static_extent >= 0 && From::static_extent != To::static_extent) {
          if (why)
            write_two_extents(*why, "rename", &axis_info_of<From>, From::static_extent, &axis_info_of<To>,
                              To::static_extent);
          return false;
        }
        return distinct_rule<replace<typename bare<X>::axes_type, From, To>>::check(why);
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
    return detail::view_type<X, result, l>(
        detail::make_node{}, graph::rename(detail::operand(static_cast<X&&>(x)), {result::axes, result::rank}));
  }
}

/// One position of an axis: the axis goes.
///   Axes    x: [..., A, ...] -> [..., ...]     Memory  a view     Grad  dy at that position, else 0
///   Errors  outside the axis: index_error
template <class A, class X, class I>
  requires detail::SomeNode<X>
[[nodiscard]] auto at(X&& x, I const& position) {
  using rule = detail::axes_of_operand_rule<"at", X, A>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    constexpr int axis = detail::place_of_axis<X, A>();
    using result = detail::node_like<X, detail::replace<typename detail::bare<X>::axes_type, A>>;
    constexpr layout l = at(detail::operand_layout<X>(), axis);
    return detail::view_type<X, result, l>(
        detail::make_node{}, graph::at(detail::operand(static_cast<X&&>(x)), {result::axes, result::rank}, axis,
                                       A{position}.value));
  }
}
/// As above, the position as a value of the axis: at(x, Seq{3}).
template <class X, Axis A>
  requires detail::SomeNode<X>
[[nodiscard]] auto at(X&& x, A const& position) {
  return at<A>(static_cast<X&&>(x), position.value);
}

namespace detail {
template <class X, class From, class To, bool CountGiven> struct slice_rule {
  static constexpr bool check(message* why) {
    if (!axes_of_operand_rule<"slice", X, From>::check(why)) return false;
    if constexpr (is_node<X> && is_axis<From>) {
      if constexpr (!is_axis<To>) {
        if (why) *why << "slice: the slice's axis is not an axis";
        return false;
      } else if constexpr (same<From, To>) {
        if (From::static_extent < 0) return true;
        if (why) {
          *why << "slice: axis ";
          why->quote(From::name.view()) << " has the static extent " << From::static_extent
                                        << ", a part of it is another axis: write `slice<"
                                        << From::name.view() << ", part>(x, begin)`";
        }
        return false;
      } else {
        if (To::static_extent >= 0 && From::static_extent >= 0 && To::static_extent > From::static_extent) {
          if (why)
            write_two_extents(*why, "slice", &axis_info_of<From>, From::static_extent, &axis_info_of<To>,
                              To::static_extent);
          return false;
        }
        if (To::static_extent < 0 && !CountGiven) {
          if (why) {
            *why << "slice: the extent of axis ";
            why->quote(To::name.view()) << " is not known: write `slice<...>(x, begin, count)`";
          }
          return false;
        }
        return distinct_rule<replace<typename bare<X>::axes_type, From, To>>::check(why);
      }
    }
    return true;
  }
};

template <class From, class To, bool CountGiven, int LayoutStep, class X>
auto make_slice(X&& x, std::int64_t begin, std::int64_t count, std::int64_t step) {
  using rule = slice_rule<X, From, To, CountGiven>;
  if constexpr (is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!keeps<rule>) {
    refuse_by<rule>();
    return poisoned{};
  } else {
    constexpr int axis = place_of_axis<X, From>();
    using result = node_like<X, replace<typename bare<X>::axes_type, From, To>>;
    constexpr layout l = sliced(operand_layout<X>(), axis, LayoutStep);
    return view_type<X, result, l>(
        make_node{}, graph::slice(operand(static_cast<X&&>(x)), {result::axes, result::rank}, axis, begin,
                                  CountGiven ? count : To::static_extent, step));
  }
}
}  // namespace detail

/// `count` positions of an axis from `begin` on, every step-th where a step is given.
///   Axes    x: [..., A, ...] -> [..., A, ...], A dynamic     Memory  a view
///   Grad    dy at those positions, else 0
///   Errors  A is static (compile time); outside the axis: index_error; a step under 1: index_error
template <class A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto slice(X&& x, std::int64_t begin, std::int64_t count) {
  return detail::make_slice<A, A, true, 1>(static_cast<X&&>(x), begin, count, 1);
}
template <class A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto slice(X&& x, std::int64_t begin, std::int64_t count, std::int64_t step) {
  return detail::make_slice<A, A, true, 2>(static_cast<X&&>(x), begin, count, step);
}
/// A part of an axis as another axis, whose static extent is the count.
template <class A, class Part, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto slice(X&& x, std::int64_t begin) {
  return detail::make_slice<A, Part, false, 1>(static_cast<X&&>(x), begin, 0, 1);
}
/// A part of an axis as another axis, the count by value.
template <class A, class Part, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto slice(X&& x, std::int64_t begin, std::int64_t count) {
  return detail::make_slice<A, Part, true, 1>(static_cast<X&&>(x), begin, count, 1);
}
template <class A, class Part, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto slice(X&& x, std::int64_t begin, std::int64_t count, std::int64_t step) {
  return detail::make_slice<A, Part, true, 2>(static_cast<X&&>(x), begin, count, step);
}

/// An axis backwards.
///   Axes    those of x     Memory  a view     Grad  reversed
template <class A, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto reverse(X&& x) {
  using rule = detail::axes_of_operand_rule<"reverse", X, A>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    constexpr int axis = detail::place_of_axis<X, A>();
    using result = detail::node_like<X, typename detail::bare<X>::axes_type>;
    constexpr layout l = reversed(detail::operand_layout<X>(), axis);
    return detail::view_type<X, result, l>(detail::make_node{},
                                           graph::reverse(detail::operand(static_cast<X&&>(x)), axis));
  }
}

namespace detail {
template <class X, class Row, class Column, class Diagonal> struct diagonal_rule {
  static constexpr bool check(message* why) {
    if (!axes_of_operand_rule<"diagonal", X, Row, Column>::check(why)) return false;
    if constexpr (is_node<X> && is_axis<Row> && is_axis<Column>) {
      if constexpr (!is_axis<Diagonal>) {
        if (why) *why << "diagonal: the diagonal's axis is not an axis";
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
        return distinct_rule<replace<replace<typename bare<X>::axes_type, Column>, Row, Diagonal>>::check(why);
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
    return detail::view_type<X, result, l>(
        detail::make_node{},
        graph::diagonal(detail::operand(static_cast<X&&>(x)), {result::axes, result::rank}, row, column));
  }
}

namespace detail {
template <class X, class... New> struct broadcast_rule {
  static constexpr bool check(message* why) {
    if (!axes_of_operand_rule<"broadcast", X>::check(why)) return false;
    if constexpr (!(is_axis<New> && ...)) {
      if (why) *why << "broadcast: the types in < > are axes";
      return false;
    } else if constexpr (is_node<X>) {
      return distinct_rule<join<pack<New...>, typename bare<X>::axes_type>>::check(why);
    }
    return true;
  }
};
}  // namespace detail

}  // namespace ricci
