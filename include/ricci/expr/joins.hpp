#pragma once

#include <ricci/expr/views.hpp>

namespace ricci {

/// Along which axis of operand 1.
template <int Axis> struct take_op {};
template <int Axis> struct concat_op {};
struct stack_op {};

namespace detail {

template <class Table, class Ids, class... A> struct take_rule {
  static constexpr bool check(message* why) {
    if (!one_axis_rule<"take", Table, A...>::check(why)) return false;
    operand_facts const facts[] = {facts_of_operand<Table>(), facts_of_operand<Ids>()};
    if (!operands_fit("take", facts, 2, false, why)) return false;
    if constexpr (is_node<Ids> && is_node<Table> && sizeof...(A) == 1 && (is_axis<A> && ...)) {
      constexpr dtype type = dtype_of<typename bare<Ids>::element_type>;
      if (!is_integer(type)) {
        if (why) *why << "take: operand 2 is " << name_of(type) << ", positions are integers";
        return false;
      }
      return joined_axes<A...>(typename bare<Ids>::axes_type{}, why);
    }
    return true;
  }
  template <class A0, class... I> static constexpr bool joined_axes(pack<I...>, message* why) {
    return distinct_rule<"take", replace<typename bare<Table>::axes_type, A0, I...>>::check(why);
  }
};
template <class All, class A, class New> struct replaced_by_pack;
template <class All, class A, class... New> struct replaced_by_pack<All, A, pack<New...>> {
  using type = replace<All, A, New...>;
};

}  // namespace detail

/// Rows of a table by their positions (an embedding).
///   Axes    table: [..., A, ...], ids: [I...] -> [..., I..., ...]: the ids' axes at A's place
///   Value   y(.., i.., ..) = table(.., ids(i..), ..)
///   Memory  a new tensor     Grad  dtable: dy added at the positions, in a fixed order
///   Errors  ids not integers, an axis twice (compile time); a position outside A: index_error
template <class... A, class Table, class Ids>
  requires detail::SomeNode<Table, Ids>
[[nodiscard]] auto take(Table&& table, Ids&& ids) {
  using rule = detail::take_rule<Table, Ids, A...>;
  if constexpr (detail::is_poisoned<Table> || detail::is_poisoned<Ids>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using named = detail::pack_element<0, A...>;
    using axes = typename detail::replaced_by_pack<typename detail::bare<Table>::axes_type, named,
                                                   typename detail::bare<Ids>::axes_type>::type;
    using result = detail::node_like<Table, axes>;
    constexpr int axis = detail::place_of_axis<Table, named>();
    graph::handle const t = detail::operand(static_cast<Table&&>(table));
    graph::handle const i = detail::operand(static_cast<Ids&&>(ids));
    return expression<take_op<axis>, result, detail::operand_type<Table>, detail::operand_type<Ids>>(
        detail::make_node{}, graph::take(t, i, {result::axes, result::rank}, axis));
  }
}

namespace detail {

/// All operands have the axes of the first, in any order.
template <fixed_string Who, class First, class... X> constexpr bool same_axes(message* why) {
  axes_list const lists[] = {axes_of_value<First>(), axes_of_value<X>()...};
  for (int i = 1; i <= static_cast<int>(sizeof...(X)); ++i) {
    bool fits = lists[i].rank == lists[0].rank;
    for (int j = 0; fits && j < lists[i].rank; ++j) fits = find_axis(lists[0], lists[i].axes[j]) >= 0;
    if (fits) continue;
    if (why) {
      if (write_name_clash(*why, Who.view(), lists[0], operand_place(0), lists[i], operand_place(i))) return false;
      *why << Who.view() << ": operand 1 has axes [";
      write_axes(*why, lists[0]);
      *why << "], operand " << i + 1 << " has [";
      write_axes(*why, lists[i]);
      *why << "]: they are the same for all operands";
    }
    return false;
  }
  return true;
}

template <fixed_string Who, class... X> struct join_rule {
  static constexpr bool check(message* why) {
    operand_facts const facts[] = {facts_of_operand<X>()...};
    if (!operands_fit(Who.view(), facts, sizeof...(X), true, why)) return false;
    if constexpr ((is_node<X> && ...)) return same_axes<Who, X...>(why);
    return true;
  }
};

template <class A, class Joined, class First, class... X> struct concat_rule {
  static constexpr bool check(message* why) {
    if constexpr (!is_axis<Joined>) {
      if (why) *why << "concat: the types in < > are axes";
      return false;
    } else {
      return joins(why);
    }
  }
  static constexpr bool joins(message* why) {
    if (!axes_of_operand_rule<"concat", First, A>::check(why)) return false;
    if (!join_rule<"concat", First, X...>::check(why)) return false;
    if constexpr (is_node<First> && is_axis<A>) {
      constexpr std::int64_t count = 1 + sizeof...(X);
      if constexpr (same<A, Joined>) {
        if (A::static_extent < 0 || count == 1) return true;
        if (why) {
          *why << "concat: axis ";
          why->quote(A::name.view()) << " has the static extent " << A::static_extent << ", the result is another axis"
                                     << ": write `concat<" << A::name.view() << ", wide>(...)`";
        }
        return false;
      } else {
        if (A::static_extent >= 0 && Joined::static_extent >= 0 &&
            Joined::static_extent != count * A::static_extent) {
          if (why) {
            *why << "concat: " << count << " times axis ";
            why->quote(A::name.view()) << " of extent " << A::static_extent << " make "
                                       << count * A::static_extent << ", axis ";
            why->quote(Joined::name.view()) << " has extent " << Joined::static_extent;
          }
          return false;
        }
        return distinct_rule<"concat", replace<typename bare<First>::axes_type, A, Joined>>::check(why);
      }
    }
    return true;
  }
};

/// x with the axes in the order of the node Like.
template <class Like, class X> graph::handle aligned(X&& x) {
  if constexpr (same<typename bare<X>::axes_type, typename Like::axes_type>) {
    return operand(static_cast<X&&>(x));
  } else {
    constexpr axes_list has = axes_of_value<X>();
    std::int8_t order[max_rank];
    for (int i = 0; i < Like::rank; ++i) order[i] = static_cast<std::int8_t>(find_axis(has, Like::axes[i]));
    return graph::permute(operand(static_cast<X&&>(x)), {Like::axes, Like::rank}, order);
  }
}

template <class A, class Joined, class... X> auto make_concat(X&&... x) {
  using rule = concat_rule<A, Joined, X...>;
  if constexpr ((is_poisoned<X> || ...)) {
    return poisoned{};
  } else if constexpr (!keeps<rule>) {
    refuse_by<rule>();
    return poisoned{};
  } else {
    using first = bare<pack_element<0, X...>>;
    using result = node_like<first, replace<typename first::axes_type, A, Joined>>;
    graph::handle const parts[] = {aligned<typename first::node_type>(static_cast<X&&>(x))...};
    constexpr int axis = place_of_axis<first, A>();
    return expression<concat_op<axis>, result, operand_type<X>...>(
        make_node{}, graph::concat(parts, sizeof...(X), {result::axes, result::rank}, axis));
  }
}

}  // namespace detail

/// Operands one behind the other along an axis.
///   Axes    each [..., A, ...], the other axes and extents equal -> [..., A, ...] in operand 1's order
///   Memory  a new tensor      Grad  the slices of dy
///   Errors  axes or dtypes differ, A is static (compile time); extents differ: shape_error
template <class A, class... X>
  requires(detail::SomeNode<X...> && !detail::is_axis<detail::bare<detail::pack_element<0, X...>>>)
[[nodiscard]] auto concat(X&&... x) {
  return detail::make_concat<A, A>(static_cast<X&&>(x)...);
}
/// As above; the result's axis is Joined, whose extent is the sum.
template <class A, class Joined, class... X>
  requires detail::SomeNode<X...>
[[nodiscard]] auto concat(X&&... x) {
  return detail::make_concat<A, Joined>(static_cast<X&&>(x)...);
}

/// Would concat<A> (Joined = A) or concat<A, Joined> take values of the types X...?
template <class A, class Joined, class... X>
inline constexpr bool concat_ok = detail::keeps<detail::concat_rule<A, Joined, X...>>;
/// Would take<A> take a table and ids of these types?
template <class A, class Table, class Ids>
inline constexpr bool take_ok = detail::keeps<detail::take_rule<Table, Ids, A>>;

namespace detail {
template <class New, class First, class... X> struct stack_rule {
  static constexpr bool check(message* why) {
    if (!join_rule<"stack", First, X...>::check(why)) return false;
    if constexpr (!is_axis<New>) {
      if (why) *why << "stack: the type in < > is an axis";
      return false;
    } else if constexpr (is_node<First>) {
      constexpr std::int64_t count = 1 + sizeof...(X);
      if (New::static_extent >= 0 && New::static_extent != count) {
        if (why) {
          *why << "stack: axis ";
          why->quote(New::name.view()) << " has extent " << New::static_extent << ", the call has " << count
                                       << " operands";
        }
        return false;
      }
      return distinct_rule<"stack", join<pack<New>, typename bare<First>::axes_type>>::check(why);
    }
    return true;
  }
};
}  // namespace detail

namespace detail {
template <fixed_string Who, class First, class... X> auto refused_join() {
  if constexpr (!(is_poisoned<First> || ... || is_poisoned<X>)) refuse_by<one_axis_rule<Who, First>>();
  return poisoned{};
}
}  // namespace detail

/// Operands side by side along a new axis, which comes first.
///   Axes    each [A...] -> [New, A...], order of operand 1
///   Memory  a new tensor      Grad  the slices of dy
///   Errors  axes or dtypes differ, New's static extent is another (compile time)
template <class New, class... X>
  requires detail::SomeNode<X...>
[[nodiscard]] auto stack(X&&... x) {
  using rule = detail::stack_rule<New, X...>;
  if constexpr ((detail::is_poisoned<X> || ...)) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using first = detail::bare<detail::pack_element<0, X...>>;
    using result = detail::node_like<first, detail::join<pack<New>, typename first::axes_type>>;
    graph::handle const parts[] = {detail::aligned<typename first::node_type>(static_cast<X&&>(x))...};
    return expression<stack_op, result, detail::operand_type<X>...>(
        detail::make_node{}, graph::stack(parts, sizeof...(X), {result::axes, result::rank}));
  }
}

/// Without an axis: refused.
template <class X, class... Rest>
  requires(detail::is_node<X> || detail::is_poisoned<X>)
auto concat(X&&, Rest&&...) {
  return detail::refused_join<"concat", X, Rest...>();
}
template <class X, class... Rest>
  requires(detail::is_node<X> || detail::is_poisoned<X>)
auto stack(X&&, Rest&&...) {
  return detail::refused_join<"stack", X, Rest...>();
}

/// Would stack<New> take values of the types X...?
template <class New, class... X> inline constexpr bool stack_ok = detail::keeps<detail::stack_rule<New, X...>>;

}  // namespace ricci
