#pragma once

#include <ricci/expr/expression.hpp>

#include <utility>

/// Axes by place: what operations on axes alone compute their results' axes with.
namespace ricci::detail {

/// Places of axes in a list, in the order wanted.
struct places {
  int count = 0;
  std::int8_t at[max_rank]{};

  constexpr void push(int place) { at[count++] = static_cast<std::int8_t>(place); }
  friend constexpr bool operator==(places const&, places const&) = default;
};

constexpr int find_axis(axes_list const& list, axis_info const* axis) {
  for (int i = 0; i < list.rank; ++i)
    if (is_same_axis(list.axes[i], axis)) return i;
  return -1;
}

/// The axes of `list` that are not among `without`.
constexpr places places_without(axes_list const& list, axes_list const& without) {
  places result;
  for (int i = 0; i < list.rank; ++i)
    if (find_axis(without, list.axes[i]) < 0) result.push(i);
  return result;
}

template <class X> constexpr axes_list axes_of_value() { return {bare<X>::axes, bare<X>::rank}; }

template <class All, places P, class Is = std::make_index_sequence<P.count>> struct picked;
template <class... All, places P, std::size_t... I>
struct picked<pack<All...>, P, std::index_sequence<I...>> {
  using type = pack<pack_element<static_cast<std::size_t>(P.at[I]), All...>...>;
};
/// The axes of the pack All at places P.
template <class All, places P> using pick = typename picked<All, P>::type;

/// A node like that of X with other axes and, where given, another dtype.
template <class X, class Axes, class T = typename bare<X>::element_type> using node_like =
    typename node_of<T, typename bare<X>::device, Axes>::type;

/// Every axis of `wanted` is one of `has`, once.
constexpr bool axes_are_there(std::string_view who, axes_list const& has, axes_list const& wanted, message* why,
                              place_name in = {"operand", 1}) {
  for (int i = 0; i < wanted.rank; ++i) {
    if (find_axis(has, wanted.axes[i]) < 0) {
      if (why) write_no_axis(*why, who, has, wanted.axes[i], in);
      return false;
    }
    if (find_axis({wanted.axes, i}, wanted.axes[i]) >= 0) {
      if (why) {
        *why << who << ": axis ";
        why->quote(wanted.axes[i]->view()) << " is named twice";
      }
      return false;
    }
  }
  return true;
}

/// An operation on one value and some of its axes.
template <fixed_string Who, class X, class... A> struct axes_of_operand_rule {
  static constexpr bool check(message* why) {
    operand_facts const facts[] = {facts_of_operand<X>()};
    if (!operands_fit(Who.view(), facts, 1, false, why)) return false;
    if constexpr (!(is_axis<A> && ...)) {
      if (why) *why << Who.view() << ": the types in < > are axes";
      return false;
    } else if constexpr (is_node<X>) {
      return axes_are_there(Who.view(), axes_of_value<X>(), {axis_list<A...>, sizeof...(A)}, why);
    }
    return true;
  }
};

/// An operation on one value along one of its axes (or as many as it says).
template <fixed_string Who, int Count, class X, class... A> struct counted_axes_rule {
  static constexpr bool check(message* why) {
    if constexpr (sizeof...(A) != Count) {
      if (why) {
        *why << Who.view() << ": the call names " << static_cast<int>(sizeof...(A)) << " axes in < >, " << Count
             << (Count == 1 ? " is wanted" : " are wanted");
        if constexpr (is_node<X>) {
          *why << "; operand 1 has axes [";
          write_axes(*why, axes_of_value<X>());
          *why << "]";
        }
      }
      return false;
    } else {
      return axes_of_operand_rule<Who, X, A...>::check(why);
    }
  }
};
template <fixed_string Who, class X, class... A> using one_axis_rule = counted_axes_rule<Who, 1, X, A...>;

}  // namespace ricci::detail
