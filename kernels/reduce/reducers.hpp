#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/math/vector_math.hpp"
#include "kernels/reduce/reducer.hpp"
#include "kernels/simd/independent.hpp"

/// The loops of each reduction on elements T (boolean as u8). A kind of reduction is a class with
/// the types of its two parts of state and static functions on them; make_reducer erases the types.
namespace ricci::kernels::reducers {

template <class A> A read(std::byte const* from) {
  A value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class A> void write(std::byte* to, A value) { std::memcpy(to, &value, sizeof value); }

// f64 for floats, i64 for the others.
template <class T> using wide = std::conditional_t<std::is_floating_point_v<T>, f64, i64>;

// Sums of integers wrap around at 2^64.
template <class W> W plus(W a, W b) {
  if constexpr (std::is_same_v<W, i64>)
    return static_cast<i64>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <class W> W times(W a, W b) {
  if constexpr (std::is_same_v<W, i64>)
    return static_cast<i64>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

struct nothing {};

template <class T> struct sum {
  using a = wide<T>;
  using b = nothing;
  static constexpr a first = 0;

  static a of_block(T const* x, std::int64_t n) {
    if constexpr (std::is_floating_point_v<T>) {
      // Four vectors of partial sums in T, of at most block_limit / (4 lanes) additions each.
      constexpr std::int64_t lanes = simd::lanes<T>;
      if (n < lanes) {
        a total = 0;
        for (std::int64_t i = 0; i < n; ++i) total += x[i];
        return total;
      }
      simd::vec<T> s[4] = {};
      std::int64_t i = 0;
      for (; i + 4 * lanes <= n; i += 4 * lanes)
        for (int v = 0; v < 4; ++v) s[v] += simd::load<T>(x + i + v * lanes);
      for (; i + lanes <= n; i += lanes) s[0] += simd::load<T>(x + i);
      if (i < n) s[1] += simd::load_first<T>(x + i, n - i, T(0));
      return simd::sum_lanes<T>((s[0] + s[1]) + (s[2] + s[3]));
    } else {
      std::uint64_t total = 0;
      for (std::int64_t i = 0; i < n; ++i) total += static_cast<std::uint64_t>(i64{x[i]});
      return static_cast<i64>(total);
    }
  }
  static void fold(a& total, b&, T const* x, std::int64_t n, std::int64_t) {
    total = plus<a>(total, of_block(x, n));
  }
  static void merge(a& total, b&, a other, b) { total = plus<a>(total, other); }
  static void accumulate(a* totals, b*, T const* x, std::int64_t n, std::int64_t,
                         std::int64_t const*) {
    RICCI_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) totals[i] = plus<a>(totals[i], static_cast<a>(x[i]));
  }
  using result = a;
  static result finish(a total, b, std::int64_t) { return total; }
};

template <class T> struct mean : sum<T> {
  using result = f64;
  static result finish(typename sum<T>::a total, nothing, std::int64_t count) {
    return static_cast<f64>(total) / static_cast<f64>(count);
  }
};

template <class T> struct prod {
  using a = wide<T>;
  using b = nothing;
  static constexpr a first = 1;
  static void fold(a& total, b&, T const* x, std::int64_t n, std::int64_t) {
    // In the elements' order, though it does not vectorize: large and small factors that follow
    // each other must meet before either overflows.
    for (std::int64_t i = 0; i < n; ++i) total = times<a>(total, static_cast<a>(x[i]));
  }
  static void merge(a& total, b&, a other, b) { total = times<a>(total, other); }
  static void accumulate(a* totals, b*, T const* x, std::int64_t n, std::int64_t,
                         std::int64_t const*) {
    RICCI_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) totals[i] = times<a>(totals[i], static_cast<a>(x[i]));
  }
  using result = a;
  static result finish(a total, b, std::int64_t) { return total; }
};

// Whether x replaces m: it is larger (smaller), or NaN where m is not.
template <bool Largest, class T> constexpr bool replaces(T x, T m) {
  if constexpr (std::is_floating_point_v<T>)
    return (Largest ? x > m : x < m) | ((x != x) & (m == m));
  else
    return Largest ? x > m : x < m;
}

template <bool Largest, class T> constexpr T worst() {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return Largest ? -limits::infinity() : limits::infinity();
  return Largest ? limits::min() : limits::max();
}

template <bool Largest, class T> T extremum_of_block(T const* x, std::int64_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr std::int64_t lanes = simd::lanes<T>;
    if (n < lanes) {
      T m = worst<Largest, T>();
      for (std::int64_t i = 0; i < n; ++i) m = replaces<Largest, T>(x[i], m) ? x[i] : m;
      return m;
    }
    using vec = simd::vec<T>;
    auto const better = [](vec p, vec m) { return ((Largest ? p > m : p < m) | (p != p)) ? p : m; };
    vec m[4];
    for (auto& part : m) part = simd::fill<T>(worst<Largest, T>());
    std::int64_t i = 0;
    for (; i + 4 * lanes <= n; i += 4 * lanes)
      for (int v = 0; v < 4; ++v) m[v] = better(simd::load<T>(x + i + v * lanes), m[v]);
    for (; i + lanes <= n; i += lanes) m[0] = better(simd::load<T>(x + i), m[0]);
    // The last vector may overlap what is done already.
    if (i < n) m[1] = better(simd::load<T>(x + n - lanes), m[1]);
    vec const all = better(better(m[0], m[1]), better(m[2], m[3]));
    T halved[lanes];
    simd::store<T>(halved, all);
    for (std::int64_t half = lanes / 2; half > 0; half /= 2)
      for (std::int64_t l = 0; l < half; ++l)
        halved[l] =
            replaces<Largest, T>(halved[l + half], halved[l]) ? halved[l + half] : halved[l];
    return halved[0];
  } else {
    T m = worst<Largest, T>();
    for (std::int64_t i = 0; i < n; ++i) m = replaces<Largest, T>(x[i], m) ? x[i] : m;
    return m;
  }
}

template <class T, bool Largest> struct extremum {
  using a = T;
  using b = nothing;
  static constexpr a first = worst<Largest, T>();
  static void fold(a& m, b&, T const* x, std::int64_t n, std::int64_t) {
    merge(m, {}, extremum_of_block<Largest, T>(x, n), {});
  }
  static void merge(a& m, b const&, a other, b) { m = replaces<Largest, T>(other, m) ? other : m; }
  static void accumulate(a* m, b*, T const* x, std::int64_t n, std::int64_t, std::int64_t const*) {
    RICCI_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) m[i] = replaces<Largest, T>(x[i], m[i]) ? x[i] : m[i];
  }
  using result = a;
  static result finish(a m, b, std::int64_t) { return m; }
};

template <class T, bool Largest> struct position {
  using a = T;
  using b = i64;  // -1: no element yet
  static constexpr a first = worst<Largest, T>();
  static constexpr b second = -1;
  static void fold(a& m, b& at, T const* x, std::int64_t n, std::int64_t begin) {
    T const best = extremum_of_block<Largest, T>(x, n);
    if (at >= 0 && !replaces<Largest, T>(best, m)) return;
    std::int64_t i = 0;
    while (best == best ? x[i] != best : x[i] == x[i]) ++i;
    m = best;
    at = begin + i;
  }
  static void merge(a& m, b& at, a other, b other_at) {
    if (other_at < 0) return;
    bool const ties = !replaces<Largest, T>(other, m) && !replaces<Largest, T>(m, other);
    if (at < 0 || replaces<Largest, T>(other, m) || (ties && other_at < at)) {
      m = other;
      at = other_at;
    }
  }
  static void accumulate(a* m, b* at, T const* x, std::int64_t n, std::int64_t begin,
                         std::int64_t const* rows) {
    RICCI_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) {
      bool const take = replaces<Largest, T>(x[i], m[i]);
      m[i] = take ? x[i] : m[i];
      at[i] = take ? begin + rows[i] : at[i];
    }
  }
  using result = i64;
  static result finish(a, b at, std::int64_t) { return at; }
};

// log(sum(exp(x))): the largest element m, and the sum of exp(x - m). Where x equals m the exponent
// is 0 also for infinities, whose difference would be NaN.
template <class T> struct logsumexp {
  using a = T;    // m
  using b = f64;  // the sum
  static constexpr a first = -std::numeric_limits<T>::infinity();
  static constexpr b second = 0;
  using vec = simd::vec<T>;

  static void fold(a& m, b& s, T const* x, std::int64_t n, std::int64_t) {
    T const block_max = extremum_of_block<true, T>(x, n);
    if (replaces<true, T>(block_max, m)) {
      s *= m == block_max ? 1.0 : std::exp(static_cast<f64>(m) - static_cast<f64>(block_max));
      m = block_max;
    }
    vec sum = {};
    vec const top = simd::fill<T>(m);
    for (std::int64_t i = 0; i < n; i += simd::lanes<T>) {
      // Lanes behind the end count as -infinity, which adds nothing unless m is that too.
      std::int64_t const count = n - i;
      bool const whole = count >= simd::lanes<T>;
      vec const v = whole ? simd::load<T>(x + i) : simd::load_first<T>(x + i, count, first);
      sum += v == top ? simd::fill<T>(1) : simd::exp<T>(v - top);
    }
    s += simd::sum_lanes<T>(sum);
  }
  static void merge(a& m, b& s, a other, b other_s) {
    if (other_s == 0) return;
    a const top = replaces<true, T>(other, m) ? other : m;
    auto const scale = [top](a v) {
      return v == top ? 1.0 : std::exp(static_cast<f64>(v) - static_cast<f64>(top));
    };
    s = (s == 0 ? 0 : s * scale(m)) + other_s * scale(other);
    m = top;
  }
  // s = s * keep + add, in f64
  static void add_scaled(b* s, vec keep, vec add) {
    if constexpr (std::is_same_v<T, f32>) {
      auto const keeps = simd::widen(keep), adds = simd::widen(add);
      constexpr int half = simd::lanes<f64>;
      simd::store<f64>(s, simd::load<f64>(s) * keeps.low + adds.low);
      simd::store<f64>(s + half, simd::load<f64>(s + half) * keeps.high + adds.high);
    } else {
      simd::store<f64>(s, simd::load<f64>(s) * keep + add);
    }
  }
  static void accumulate(a* m, b* s, T const* x, std::int64_t n, std::int64_t,
                         std::int64_t const*) {
    for (std::int64_t i = 0; i < n; i += simd::lanes<T>) {
      // The arrays reach to the end of the last vector.
      std::int64_t const count = std::min<std::int64_t>(n - i, simd::lanes<T>);
      vec const v =
          count == simd::lanes<T> ? simd::load<T>(x + i) : simd::load_first<T>(x + i, count, first);
      vec const top = simd::load<T>(m + i);
      // exp of minus the distance: how the smaller of the two counts beside the larger.
      vec const e = v == top ? simd::fill<T>(1) : simd::exp<T>(-simd::absolute<T>(v - top));
      auto const larger = v > top;
      vec const keep = larger ? e : simd::fill<T>(1), add = larger ? simd::fill<T>(1) : e;
      simd::store<T>(m + i, larger ? v : top);
      add_scaled(s + i, keep, add);
    }
  }
  using result = f64;
  static result finish(a m, b s, std::int64_t) {
    return s == 0 ? -std::numeric_limits<f64>::infinity() : static_cast<f64>(m) + std::log(s);
  }
};

template <class Kind, class T> constexpr reducer make_reducer() {
  using a = typename Kind::a;
  using b = typename Kind::b;
  constexpr bool has_second = !std::is_same_v<b, nothing>;
  reducer r{};
  auto const first_bytes = std::bit_cast<std::array<std::byte, sizeof(a)>>(Kind::first);
  for (std::size_t i = 0; i < sizeof(a); ++i) r.start.first[i] = first_bytes[i];
  if constexpr (has_second) {
    auto const bytes = std::bit_cast<std::array<std::byte, sizeof(b)>>(b{Kind::second});
    for (std::size_t i = 0; i < sizeof(b); ++i) r.start.second[i] = bytes[i];
  }
  r.fold = [](reduce_state& state, void const* x, std::int64_t n, std::int64_t position) {
    a m = read<a>(state.first);
    b s{};
    if constexpr (has_second) s = read<b>(state.second);
    Kind::fold(m, s, static_cast<T const*>(x), n, position);
    write(state.first, m);
    if constexpr (has_second) write(state.second, s);
  };
  r.merge = [](reduce_state& state, reduce_state const& other) {
    a m = read<a>(state.first);
    b s{}, t{};
    if constexpr (has_second) s = read<b>(state.second), t = read<b>(other.second);
    Kind::merge(m, s, read<a>(other.first), t);
    write(state.first, m);
    if constexpr (has_second) write(state.second, s);
  };
  r.finish = [](reduce_state const& state, std::int64_t count, void* result) {
    b s{};
    if constexpr (has_second) s = read<b>(state.second);
    auto const value = Kind::finish(read<a>(state.first), s, count);
    std::memcpy(result, &value, sizeof value);
  };
  r.result = dtype_of<typename Kind::result>;
  r.clear = [](reduce_lanes& lanes, std::int64_t n, std::int64_t begin, std::int64_t const* rows) {
    // Whole vectors, so that loops over them may run past n.
    std::int64_t const end = std::min((n + 15) / 16 * 16, block_limit);
    std::fill_n(reinterpret_cast<a*>(lanes.first), end, Kind::first);
    if constexpr (std::is_same_v<typename Kind::result, i64> && has_second) {
      // Of equal worst elements the first one counts.
      auto* const at = reinterpret_cast<i64*>(lanes.second);
      for (std::int64_t i = 0; i < n; ++i) at[i] = begin + rows[i];
    } else if constexpr (has_second) {
      std::fill_n(reinterpret_cast<b*>(lanes.second), end, b{Kind::second});
    }
  };
  r.accumulate = [](reduce_lanes& lanes, void const* x, std::int64_t n, std::int64_t begin,
                    std::int64_t const* rows) {
    Kind::accumulate(reinterpret_cast<a*>(lanes.first), reinterpret_cast<b*>(lanes.second),
                     static_cast<T const*>(x), n, begin, rows);
  };
  r.lane = [](reduce_lanes const& lanes, std::int64_t i) {
    reduce_state state{};
    std::memcpy(state.first, lanes.first + i * static_cast<std::int64_t>(sizeof(a)), sizeof(a));
    if constexpr (has_second)
      std::memcpy(state.second, lanes.second + i * static_cast<std::int64_t>(sizeof(b)), sizeof(b));
    return state;
  };
  r.finish_lanes = [](reduce_lanes const& lanes, std::int64_t n, std::int64_t count, void* out) {
    auto const* const m = reinterpret_cast<a const*>(lanes.first);
    auto* const results = static_cast<typename Kind::result*>(out);
    for (std::int64_t i = 0; i < n; ++i) {
      b s{};
      if constexpr (has_second) s = reinterpret_cast<b const*>(lanes.second)[i];
      results[i] = Kind::finish(m[i], s, count);
    }
  };
  return r;
}

}  // namespace ricci::kernels::reducers
