#pragma once

#include <type_traits>

namespace ricci {

/// What a rejected operation returns. Every operation takes it and returns it again without a word,
/// so that one mistake gives one error.
struct poisoned {
  template <class... P> poisoned operator()(P&&...) const { return {}; }
  template <class I> poisoned operator[](I const&) const { return {}; }
  poisoned shape() const { return {}; }
  poisoned item() const { return {}; }
  poisoned values() const { return {}; }
  poisoned handle() const { return {}; }
  template <class> poisoned extent() const { return {}; }
  poisoned element_count() const { return {}; }
  poisoned size() const { return {}; }
  poisoned const* begin() const { return nullptr; }
  poisoned const* end() const { return nullptr; }
  /// The number that would have been read.
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr operator T() const {
    return {};
  }
  template <class Out> friend Out& operator<<(Out& out, poisoned const&) { return out; }
};

namespace detail {
template <class X> inline constexpr bool is_poisoned = __is_base_of(poisoned, X);
template <class X> inline constexpr bool is_poisoned<X&> = is_poisoned<X>;
template <class X> inline constexpr bool is_poisoned<X const&> = is_poisoned<X>;
template <class X> inline constexpr bool is_poisoned<X&&> = is_poisoned<X>;
template <class X> inline constexpr bool is_poisoned<X const> = is_poisoned<X>;
}  // namespace detail

}  // namespace ricci
