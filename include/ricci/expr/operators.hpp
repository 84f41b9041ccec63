#pragma once

#include <ricci/expr/pointwise.hpp>

/// The operators of elementwise arithmetic, comparison and logic.
///   Axes    [A...] op [B...]: one's axes are a subset of the other's, by name; the result has the
///           larger one's axes in its order (equal sets: operand 1's). Extent 1 never stretches
///   Dtype   both the same, a C++ number takes the tensor's; comparisons give boolean, which
///           `&&`, `||` and `!` take
///   Lowers  one instruction of the statement's fused loop, or an epilogue of its GEMM
///   Grad    of the arithmetic ones: the usual rules, summed over broadcast axes
///   Errors  neither set of axes holds the other, dtypes differ, a floating number with an integer
///           tensor (compile time); extents of one axis differ: shape_error
namespace ricci {

template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto operator+(A&& a, B&& b) {
  return detail::pointwise<"+", opcode::add>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto operator-(A&& a, B&& b) {
  return detail::pointwise<"-", opcode::subtract>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto operator*(A&& a, B&& b) {
  return detail::pointwise<"*", opcode::multiply>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto operator/(A&& a, B&& b) {
  return detail::pointwise<"/", opcode::divide>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto operator<(A&& a, B&& b) {
  return detail::pointwise<"<", opcode::less>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto operator<=(A&& a, B&& b) {
  return detail::pointwise<"<=", opcode::less_equal>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto operator>(A&& a, B&& b) {
  return detail::pointwise<">", opcode::greater>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto operator>=(A&& a, B&& b) {
  return detail::pointwise<">=", opcode::greater_equal>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto operator==(A&& a, B&& b) {
  return detail::pointwise<"==", opcode::equal>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto operator!=(A&& a, B&& b) {
  return detail::pointwise<"!=", opcode::not_equal>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto operator&&(A&& a, B&& b) {
  return detail::pointwise<"&&", opcode::logical_and>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::SomeNode<A, B>
[[nodiscard]] auto operator||(A&& a, B&& b) {
  return detail::pointwise<"||", opcode::logical_or>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A>
  requires detail::SomeNode<A>
[[nodiscard]] auto operator-(A&& a) {
  return detail::pointwise<"-", opcode::negate>(static_cast<A&&>(a));
}
template <class A>
  requires detail::SomeNode<A>
[[nodiscard]] auto operator!(A&& a) {
  return detail::pointwise<"!", opcode::logical_not>(static_cast<A&&>(a));
}

namespace detail {
template <fixed_string Who> struct in_place_rule {
  static constexpr bool check(message* why) {
    if (why) *why << Who.view() << ": a tensor is never written in place: write `x = x " << Who.view().substr(0, 1) << " y`";
    return false;
  }
};
template <fixed_string Who> struct bitwise_rule {
  static constexpr bool check(message* why) {
    if (why) *why << Who.view() << ": not an operation on tensors: logic is `" << Who.view() << Who.view() << "`, on boolean";
    return false;
  }
};
template <class Rule, class... X> auto refused() {
  if constexpr (!(is_poisoned<X> || ...)) refuse_by<Rule>();
  return poisoned{};
}
}  // namespace detail

// What people try; each is refused with what to write instead.
template <class A, class B>
  requires detail::SomeNode<A>
auto operator+=(A&&, B&&) {
  return detail::refused<detail::in_place_rule<"+=">, A, B>();
}
template <class A, class B>
  requires detail::SomeNode<A>
auto operator-=(A&&, B&&) {
  return detail::refused<detail::in_place_rule<"-=">, A, B>();
}
template <class A, class B>
  requires detail::SomeNode<A>
auto operator*=(A&&, B&&) {
  return detail::refused<detail::in_place_rule<"*=">, A, B>();
}
template <class A, class B>
  requires detail::SomeNode<A>
auto operator/=(A&&, B&&) {
  return detail::refused<detail::in_place_rule<"/=">, A, B>();
}
template <class A, class B>
  requires detail::SomeNode<A, B>
auto operator&(A&&, B&&) {
  return detail::refused<detail::bitwise_rule<"&">, A, B>();
}
template <class A, class B>
  requires detail::SomeNode<A, B>
auto operator|(A&&, B&&) {
  return detail::refused<detail::bitwise_rule<"|">, A, B>();
}

}  // namespace ricci
