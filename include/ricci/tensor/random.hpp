#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace ricci::random {

namespace detail {

// A bijection of 64 bits in which each bit of the result depends on each of the argument.
// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
// with the constants of SplitMix64.
constexpr std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

inline constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;  // 2^64 over the golden ratio, odd

// Different first terms keep 1, "1" and the eight bytes of a longer text apart.
enum class kind : std::uint64_t { seed = 1, integer = 2, text_length = 3, text = 4 };

constexpr std::uint64_t absorb(std::uint64_t state, kind what, std::uint64_t word) {
  return mix((state ^ mix(word + golden * static_cast<std::uint64_t>(what))) + golden);
}

constexpr std::uint64_t absorb(std::uint64_t state, std::string_view text) {
  state = absorb(state, kind::text_length, text.size());
  for (std::size_t begin = 0; begin < text.size(); begin += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = begin; i < begin + 8 && i < text.size(); ++i)
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * (i - begin));
    state = absorb(state, kind::text, word);
  }
  return state;
}

constexpr std::uint64_t absorb(std::uint64_t state, std::integral auto number) {
  return absorb(state, kind::integer, static_cast<std::uint64_t>(number));
}

}  // namespace detail

/// Names one use of random numbers: the same key gives the same numbers, everywhere and always.
///   Value   64 bits, well mixed; `key(42).fold("dropout", layer, step)`. Order counts, and texts
///           and integers are never confused; fold(a, b) is fold(a).fold(b)
///   Memory  a value; nothing is drawn from it, so two uses of one key see the same numbers
///   Cost    a few nanoseconds a fold; all of it works in constant expressions
class key {
 public:
  explicit constexpr key(std::uint64_t seed)
      : state_(detail::absorb(0, detail::kind::seed, seed)) {}

  /// A key derived from this one and the parts: integers and texts, at least one.
  template <class... Parts>
    requires(sizeof...(Parts) > 0 &&
             ((std::integral<Parts> || std::convertible_to<Parts const&, std::string_view>) && ...))
  constexpr key fold(Parts const&... parts) const {
    key result = *this;
    ((result.state_ = absorb(result.state_, parts)), ...);
    return result;
  }

  /// The 64 bits, for a checkpoint; from_state makes the same key of them.
  constexpr std::uint64_t state() const { return state_; }
  static constexpr key from_state(std::uint64_t state) {
    key result(0);
    result.state_ = state;
    return result;
  }

  friend constexpr bool operator==(key, key) = default;

 private:
  template <class Part>
  static constexpr std::uint64_t absorb(std::uint64_t state, Part const& part) {
    if constexpr (std::integral<Part>)
      return detail::absorb(state, part);
    else
      return detail::absorb(state, std::string_view(part));
  }

  std::uint64_t state_;
};

}  // namespace ricci::random
