#pragma once

#include <ricci/expr/views.hpp>

#include <concepts>

/// Positions of an axis: one of them, or some in order. Views, as in views.hpp.
namespace ricci {
namespace detail {

/// A position is an integer, or a value of the axis itself.
template <class A, class I> inline constexpr bool is_position =
    std::integral<I> || same<A, I> || is_poisoned<I>;

template <class X, class I, class... A> struct at_rule {
  static constexpr bool check(message* why) {
    if (!one_axis_rule<"at", X, A...>::check(why)) return false;
    if ((is_position<A, I> && ...)) return true;
    if (why) {
      *why << "at: the position along axis ";
      (why->quote(A::name.view()), ...);
      *why << " is neither an integer nor a value of that axis";
    }
    return false;
  }
};

}  // namespace detail

/// One position of an axis: the axis goes.
///   Axes    x: [..., A, ...] -> [..., ...]     Memory  a view     Grad  dy at that position, else
///   0 Errors  outside the axis: index_error
template <class... A, class X, class I>
  requires(detail::SomeNode<X> && !detail::is_axis<I>)
[[nodiscard]] auto at(X&& x, I const& position) {
  using rule = detail::at_rule<X, I, A...>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using named = detail::pack_element<0, A...>;
    constexpr int axis = detail::place_of_axis<X, named>();
    using result =
        detail::node_like<X, detail::replace<typename detail::bare<X>::axes_type, named>>;
    constexpr layout l = at(detail::operand_layout<X>(), axis);
    return detail::view_type<X, result, l, view_step::at, axis>(
        detail::make_node{},
        graph::at(detail::operand(static_cast<X&&>(x)), {result::axes, result::rank}, axis,
                  static_cast<std::int64_t>(position)));
  }
}
/// As above, the position as a value of the axis: at(x, Seq{3}).
template <class... A, class X, Axis P>
  requires detail::SomeNode<X>
[[nodiscard]] auto at(X&& x, P const& position) {
  using named = detail::pack_element<0, A..., P>;
  using rule = detail::at_rule<X, P, named>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    return at<P>(static_cast<X&&>(x), position.value);
  }
}

namespace detail {
template <class X, class From, class To, bool CountGiven> struct slice_rule {
  static constexpr bool check(message* why) {
    if (!axes_of_operand_rule<"slice", X, From>::check(why)) return false;
    if constexpr (is_node<X> && is_axis<From>) {
      if constexpr (!is_axis<To>) {
        if (why)
          *why << "slice: the types in < > are axes: slice<Seq>(x, begin, count), slice<Seq, "
                  "Window>(x, begin)";
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
        if (To::static_extent >= 0 && From::static_extent >= 0 &&
            To::static_extent > From::static_extent) {
          if (why)
            write_two_extents(*why, "slice", &axis_info_of<From>, From::static_extent,
                              &axis_info_of<To>, To::static_extent);
          return false;
        }
        if (To::static_extent < 0 && !CountGiven) {
          if (why) {
            *why << "slice: the extent of axis ";
            why->quote(To::name.view()) << " is not known: write `slice<...>(x, begin, count)`";
          }
          return false;
        }
        return distinct_rule<"slice", replace<typename bare<X>::axes_type, From, To>>::check(why);
      }
    }
    return true;
  }
};

template <class X, class From, class To, bool CountGiven, class... I> struct slice_call_rule {
  static constexpr bool check(message* why) {
    if (!slice_rule<X, From, To, CountGiven>::check(why)) return false;
    if ((is_position<void, I> && ...)) return true;
    if constexpr (is_axis<From>)
      if (why)
        *why << "slice: begin, count and step along axis `" << From::name.view()
             << "` are integers";
    return false;
  }
};

template <class From, class To, bool CountGiven, int LayoutStep, class X, class B, class C, class S>
auto make_slice(X&& x, B begin, C count, S step) {
  using rule = slice_call_rule<X, From, To, CountGiven, B, C, S>;
  if constexpr (is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!keeps<rule>) {
    refuse_by<rule>();
    return poisoned{};
  } else {
    constexpr int axis = place_of_axis<X, From>();
    using result = node_like<X, replace<typename bare<X>::axes_type, From, To>>;
    constexpr layout l = sliced(operand_layout<X>(), axis, LayoutStep);
    return view_type<X, result, l, view_step::slice, axis, (LayoutStep > 1)>(
        make_node{}, graph::slice(operand(static_cast<X&&>(x)), {result::axes, result::rank}, axis,
                                  static_cast<std::int64_t>(begin),
                                  CountGiven ? static_cast<std::int64_t>(count) : To::static_extent,
                                  static_cast<std::int64_t>(step)));
  }
}
}  // namespace detail

/// `count` positions of an axis from `begin` on, every step-th where a step is given.
///   Axes    x: [..., A, ...] -> [..., A, ...], A dynamic     Memory  a view
///   Grad    dy at those positions, else 0
///   Errors  A is static, a number is no integer (compile time); outside the axis, a step
///           under 1: index_error
template <class A, class X, class B, class C>
  requires detail::SomeNode<X>
[[nodiscard]] auto slice(X&& x, B begin, C count) {
  return detail::make_slice<A, A, true, 1>(static_cast<X&&>(x), begin, count, 1);
}
template <class A, class X, class B, class C, class S>
  requires detail::SomeNode<X>
[[nodiscard]] auto slice(X&& x, B begin, C count, S step) {
  return detail::make_slice<A, A, true, 2>(static_cast<X&&>(x), begin, count, step);
}
/// A part of an axis as another axis, whose static extent is the count.
template <class A, class Part, class X, class B>
  requires detail::SomeNode<X>
[[nodiscard]] auto slice(X&& x, B begin) {
  return detail::make_slice<A, Part, false, 1>(static_cast<X&&>(x), begin, 0, 1);
}
/// A part of an axis as another axis, the count by value.
template <class A, class Part, class X, class B, class C>
  requires detail::SomeNode<X>
[[nodiscard]] auto slice(X&& x, B begin, C count) {
  return detail::make_slice<A, Part, true, 1>(static_cast<X&&>(x), begin, count, 1);
}
template <class A, class Part, class X, class B, class C, class S>
  requires detail::SomeNode<X>
[[nodiscard]] auto slice(X&& x, B begin, C count, S step) {
  return detail::make_slice<A, Part, true, 2>(static_cast<X&&>(x), begin, count, step);
}

/// Without an axis: refused.
template <class X, class... I>
  requires detail::SomeNode<X>
auto slice(X&&, I...) {
  if constexpr (!detail::is_poisoned<X>) detail::refuse_by<detail::one_axis_rule<"slice", X>>();
  return poisoned{};
}

/// Would at<A>(x, i) take a value x of the type X and a position of the type I?
template <class A, class X, class I = std::int64_t> inline constexpr bool at_ok =
    detail::keeps<detail::at_rule<X, I, A>>;
/// Would slice<A, Part>(x, begin, count) take a value of the type X?
template <class A, class Part, class X> inline constexpr bool slice_ok =
    detail::keeps<detail::slice_rule<X, A, Part, true>>;

}  // namespace ricci
