#pragma once

#include <utility>

#include "kernels/simd/vec.hpp"

namespace ricci::kernels::simd {

namespace detail {

// Exchanges the off-diagonal Half x Half blocks of two rows that stand Half apart.
template <class C, int Half, int... Lane>
RICCI_ALWAYS_INLINE void exchange(vec<C>& upper, vec<C>& lower,
                                  std::integer_sequence<int, Lane...>) {
  constexpr int n = lanes<C>;
  vec<C> const first =
      __builtin_shufflevector(upper, lower, ((Lane & Half) == 0 ? Lane : n + Lane - Half)...);
  lower = __builtin_shufflevector(upper, lower, ((Lane & Half) == 0 ? Lane + Half : n + Lane)...);
  upper = first;
}

template <class C, int Half> RICCI_ALWAYS_INLINE void exchange_all(vec<C>* rows) {
  if constexpr (Half > 0) {
    for (int i = 0; i < lanes<C>; ++i)
      if ((i & Half) == 0)
        exchange<C, Half>(rows[i], rows[i + Half], std::make_integer_sequence<int, lanes<C>>());
    exchange_all<C, Half / 2>(rows);
  }
}

}  // namespace detail

/// Transposes a square of lanes<C> vectors in registers: lane j of row i becomes lane i of row j.
template <class C> RICCI_ALWAYS_INLINE void transpose(vec<C> (&rows)[lanes<C>]) {
  detail::exchange_all<C, lanes<C> / 2>(rows);
}

}  // namespace ricci::kernels::simd
