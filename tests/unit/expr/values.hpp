#pragma once

// What the tests of the language share: values as lists, the sentences of errors, what ran.
#include <doctest/doctest.h>

#include <ricci/ricci.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace ricci::testing {

/// The elements of a value in row-major order, as f64: exact for every dtype but large i64.
template <class X> std::vector<double> numbers(X const& x) {
  tensor t = x;
  using T = typename decltype(t)::element_type;
  std::vector<double> list;
  for (T const v : t.values()) {
    if constexpr (is_floating_v<T>)
      list.push_back(static_cast<double>(static_cast<accumulator_t<T>>(v)));
    else
      list.push_back(static_cast<double>(v));
  }
  return list;
}

/// The elements as they are.
template <class X> auto list(X const& x) {
  tensor t = x;
  auto const values = t.values();
  return std::vector<typename decltype(t)::element_type>(values.begin(), values.end());
}

using doubles = std::vector<double>;
using floats = std::vector<f32>;

/// begin, begin + 1, ... in row-major order over axes A; the extents of dynamic ones by value.
template <class T, class... A, class... Given>
tensor<T, A...> counting_from(int begin, Given const&... given) {
  tensor<T, A...> const shaped = zeros<T, A...>(given...);
  std::vector<T> values;
  std::int64_t const count = shaped.shape().element_count();
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(static_cast<double>(begin + i)));
  return from<T, A...>(std::span<T const>(values), given...);
}
template <class T, class... A, class... Given> tensor<T, A...> counting(Given const&... given) {
  return counting_from<T, A...>(0, given...);
}

/// The text of the error that f throws.
template <class Error = shape_error, class F> std::string sentence(F const& f) {
  try {
    f();
  } catch (Error const& fault) {
    return fault.what();
  } catch (error const& other) {
    return std::string("another error was thrown: ") + other.what();
  }
  return "nothing was thrown";
}

/// Does the text have all of the parts?
inline bool has(std::string const& text, std::initializer_list<char const*> parts) {
  for (char const* part : parts)
    if (text.find(part) == std::string::npos) {
      MESSAGE(text, " lacks ", part);
      return false;
    }
  return true;
}

/// What ran on this thread since the object was made.
class tally {
 public:
  std::int64_t statements() const { return graph::counted().statements - before_.statements; }
  std::int64_t loops() const { return graph::counted().loops - before_.loops; }
  std::int64_t gemms() const { return graph::counted().gemms - before_.gemms; }
  std::int64_t small() const {
    return graph::counted().small_contractions - before_.small_contractions;
  }
  std::int64_t contractions() const { return gemms() + small(); }
  std::int64_t packs() const { return graph::counted().packs - before_.packs; }
  std::int64_t copies() const { return graph::counted().copies - before_.copies; }
  std::int64_t reductions() const { return graph::counted().reductions - before_.reductions; }
  std::int64_t kernels() const { return graph::counted().kernels - before_.kernels; }
  /// All passes over memory.
  std::int64_t passes() const {
    return loops() + contractions() + packs() + copies() + reductions() + kernels();
  }

 private:
  graph::counters before_ = graph::counted();
};

/// Do two values lie at the same place in memory?
template <class X, class Y> bool shares(X const& x, Y const& y) {
  return graph::data(x.handle()) == graph::data(y.handle());
}

inline constexpr f32 infinity = std::numeric_limits<f32>::infinity();
inline constexpr f32 not_a_number = std::numeric_limits<f32>::quiet_NaN();

template <class A, class B> inline constexpr bool same = false;
template <class A> inline constexpr bool same<A, A> = true;

}  // namespace ricci::testing
