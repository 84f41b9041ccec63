#pragma once

#include <ricci/axis/axis.hpp>

#include <cstddef>

namespace ricci {

/// A list of types. Small and own, because it is made for every expression.
template <class... T> struct pack {
  static constexpr int size = sizeof...(T);
};

namespace detail {

#if defined(__has_builtin)
#if __has_builtin(__type_pack_element)
#define RICCI_HAS_TYPE_PACK_ELEMENT 1
#endif
#endif

#ifdef RICCI_HAS_TYPE_PACK_ELEMENT
template <std::size_t I, class... T> using pack_element = __type_pack_element<I, T...>;
#else
template <std::size_t I, class... T> struct element_at;
template <class T0, class... T> struct element_at<0, T0, T...> { using type = T0; };
template <class T0, class T1, class... T> struct element_at<1, T0, T1, T...> { using type = T1; };
template <class T0, class T1, class T2, class... T> struct element_at<2, T0, T1, T2, T...> {
  using type = T2;
};
template <class T0, class T1, class T2, class T3, class... T>
struct element_at<3, T0, T1, T2, T3, T...> {
  using type = T3;
};
template <std::size_t I, class T0, class T1, class T2, class T3, class... T>
  requires(I > 3)
struct element_at<I, T0, T1, T2, T3, T...> : element_at<I - 4, T...> {};
template <std::size_t I, class... T> using pack_element = typename element_at<I, T...>::type;
#endif

template <class T, class U> inline constexpr bool same = false;
template <class T> inline constexpr bool same<T, T> = true;

/// Place of A among T..., -1 where it is not.
template <class A, class... T> consteval int place_in(pack<T...>) {
  int place = 0;
  bool const found = ((same<A, T> ? true : (++place, false)) || ...);
  return found ? place : -1;
}

/// Concatenation of several packs.
template <class... P> struct joined { using type = pack<>; };
template <class... T> struct joined<pack<T...>> { using type = pack<T...>; };
template <class... T, class... U, class... P> struct joined<pack<T...>, pack<U...>, P...>
    : joined<pack<T..., U...>, P...> {};
template <class... P> using join = typename joined<P...>::type;

template <class A> inline constexpr bool is_axis = __is_base_of(axis_base, A);

/// Are all types of a pack axes? And their descriptions. (Rules take packs as they are: a partial
/// specialization that repeats a string parameter never matches in nvcc.)
template <class Pack> inline constexpr bool all_axes = false;
template <class... A> inline constexpr bool all_axes<pack<A...>> = (is_axis<A> && ...);
template <class Pack> inline constexpr axes_list axes_in{};
template <class... A> inline constexpr axes_list axes_in<pack<A...>>{axis_list<A...>, sizeof...(A)};

/// The axes at the beginning of a list of types, and the rest.
template <class Axes, class... T> struct split_axes {
  using axes = Axes;
  using rest = pack<T...>;
};
template <class... A, class Next, class... T>
  requires is_axis<Next>
struct split_axes<pack<A...>, Next, T...> : split_axes<pack<A..., Next>, T...> {};

}  // namespace detail
}  // namespace ricci
