#pragma once

namespace ricci {

/// What a rejected operation returns. Every operation takes it and returns it again without a word,
/// so that one mistake gives one error.
struct poisoned {
  template <class... P> poisoned operator()(P&&...) const { return {}; }
  poisoned shape() const { return {}; }
  poisoned item() const { return {}; }
  poisoned values() const { return {}; }
};

namespace detail {
template <class X> inline constexpr bool is_poisoned = __is_base_of(poisoned, X);
template <class X> inline constexpr bool is_poisoned<X&> = is_poisoned<X>;
template <class X> inline constexpr bool is_poisoned<X const&> = is_poisoned<X>;
template <class X> inline constexpr bool is_poisoned<X&&> = is_poisoned<X>;
template <class X> inline constexpr bool is_poisoned<X const> = is_poisoned<X>;
}  // namespace detail

}  // namespace ricci
