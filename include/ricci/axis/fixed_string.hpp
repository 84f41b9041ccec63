#pragma once

#include <cstddef>
#include <string_view>

namespace ricci {

/// A string that can be a template argument. Strings concatenate with `+`, so that generic code can
/// build its patterns: `"... " + In::name + " -> ..."`.
template <std::size_t N> struct fixed_string {
  char chars[N + 1]{};

  constexpr fixed_string() = default;
  constexpr fixed_string(char const (&text)[N + 1]) {
    for (std::size_t i = 0; i < N; ++i) chars[i] = text[i];
  }
  static constexpr std::size_t size() { return N; }
  constexpr std::string_view view() const { return {chars, N}; }
  constexpr operator std::string_view() const { return view(); }
  constexpr bool operator==(fixed_string const&) const = default;
};

template <std::size_t N> fixed_string(char const (&)[N]) -> fixed_string<N - 1>;

template <std::size_t N, std::size_t M>
constexpr fixed_string<N + M> operator+(fixed_string<N> const& a, fixed_string<M> const& b) {
  fixed_string<N + M> sum;
  for (std::size_t i = 0; i < N; ++i) sum.chars[i] = a.chars[i];
  for (std::size_t i = 0; i < M; ++i) sum.chars[N + i] = b.chars[i];
  return sum;
}
template <std::size_t N, std::size_t M>
constexpr auto operator+(fixed_string<N> const& a, char const (&b)[M]) {
  return a + fixed_string<M - 1>(b);
}
template <std::size_t N, std::size_t M>
constexpr auto operator+(char const (&a)[N], fixed_string<M> const& b) {
  return fixed_string<N - 1>(a) + b;
}

}  // namespace ricci
