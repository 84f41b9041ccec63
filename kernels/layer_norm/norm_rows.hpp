#pragma once

#include <cmath>
#include <vector>

#include "kernels/parallel/parallel.hpp"
#include "kernels/simd/extents.hpp"
#include "kernels/simd/row.hpp"

/// The loops of layer_norm (Center) and rms_norm (no mean, no bias).
namespace ricci::kernels::norm {

using simd::two;
using simd::vec;

// Rows of one task: some ten microseconds, so that small tensors stay on one thread.
inline std::int64_t grain(std::int64_t width) {
  constexpr std::int64_t elements = 16384;
  return width < elements ? elements / (width + 1) + 1 : 1;
}

template <class T, class C> struct forward_operands {
  T const* x;
  T const* scale;  // or null
  T const* bias;   // or null
  T* y;
  C* mean;  // or null
  C* rstd;  // or null
};

/// Two rows at a time, so that the sums of one hide the latency of the other's; a row alone is
/// paired with itself, so its bits do not depend on its neighbours.
template <bool Center, class T, class C = accumulator_t<T>>
void forward(std::int64_t rows, std::int64_t width, C eps, forward_operands<T, C> const& p) {
  C const share = width > 0 ? C(1) / static_cast<C>(width) : C(0);
  auto const finish = [&](std::int64_t r, C mean, C rstd) {
    T const* const x = p.x + r * width;
    T* const y = p.y + r * width;
    simd::for_row<C>(width, [&](auto at) {
      vec<C> n = (at.load(x) - mean) * rstd;
      if (p.scale) n *= at.load(p.scale);
      if (Center && p.bias) n += at.load(p.bias);
      at.store(y, n);
    });
    if (Center && p.mean) p.mean[r] = mean;
    if (p.rstd) p.rstd[r] = rstd;
  };
  parallel_chunks(rows, grain(width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; r += 2) {
      T const* const x = p.x + r * width;
      T const* const next = r + 1 < end ? x + width : x;
      two<C> mean{C(0), C(0)};
      if constexpr (Center)
        mean = simd::sum_row_twice<C>(
            width, [&](auto at) { return two<vec<C>>{at.load(x), at.load(next)}; });
      mean = {mean.first * share, mean.second * share};
      two<C> const square = simd::sum_row_twice<C>(width, [&](auto at) {
        vec<C> const a = at.load(x) - mean.first;
        vec<C> const b = at.load(next) - mean.second;
        return two<vec<C>>{a * a, b * b};
      });
      C const first = C(1) / std::sqrt(square.first * share + eps);
      C const second = C(1) / std::sqrt(square.second * share + eps);
      finish(r, mean.first, first);
      if (r + 1 < end) finish(r + 1, mean.second, second);
    }
  });
}

template <class T, class C> struct backward_operands {
  T const* x;
  T const* scale;  // or null
  C const* mean;
  C const* rstd;
  T const* dy;
  T* dx;      // or null
  T* dscale;  // or null
  T* dbias;   // or null
};

/// dx of one row, whose terms of dscale and dbias are added to the sums.
template <bool Center, class T, class C>
void backward_row(std::int64_t r, std::int64_t width, C share, backward_operands<T, C> const& p,
                  C* dscale, C* dbias) {
  T const* const x = p.x + r * width;
  T const* const dy = p.dy + r * width;
  C const mean = Center ? p.mean[r] : C(0);
  C const rstd = p.rstd[r];
  C slope_mean(0);
  C product_mean(0);
  auto const slope = [&](auto at) {
    return p.scale ? at.load(dy) * at.load(p.scale) : at.load(dy);
  };
  if (p.dx) {
    auto const [slopes, products] = simd::sum_row_twice<C>(width, [&](auto at) {
      vec<C> const g = slope(at);
      return two<vec<C>>{g, g * (at.load(x) - mean)};
    });
    slope_mean = Center ? slopes * share : C(0);
    product_mean = products * rstd * share;
  }
  simd::for_row<C>(width, [&](auto at) {
    vec<C> const n = (at.load(x) - mean) * rstd;
    vec<C> const dy_at = at.load(dy);
    if (dscale) at.store(dscale, at.load(dscale) + dy_at * n);
    if (Center && dbias) at.store(dbias, at.load(dbias) + dy_at);
    if (p.dx) at.store(p.dx + r * width, (slope(at) - slope_mean - n * product_mean) * rstd);
  });
}

template <bool Center, class T, class C = accumulator_t<T>>
void backward(std::int64_t rows, std::int64_t width, backward_operands<T, C> const& p) {
  C const share = width > 0 ? C(1) / static_cast<C>(width) : C(0);
  bool const sums = p.dscale || p.dbias;
  // At most 128 ranges of at least 8 rows, whatever the threads: the order of the sums over rows.
  std::int64_t const range = rows / 128 < 8 ? 8 : (rows - 1) / 128 + 1;
  std::int64_t const ranges = rows > 0 ? (rows - 1) / range + 1 : 0;
  std::vector<C> partial(sums ? static_cast<std::size_t>(ranges * 2 * width) : 0);
  parallel_chunks(rows, range, [&](std::int64_t begin, std::int64_t end) {
    C* const mine = sums ? partial.data() + begin / range * 2 * width : nullptr;
    C* const dscale = p.dscale ? mine : nullptr;
    C* const dbias = p.dbias ? mine + width : nullptr;
    for (std::int64_t r = begin; r < end; ++r)
      backward_row<Center>(r, width, share, p, dscale, dbias);
  });
  auto const add_up = [&](T* to, std::int64_t offset) {
    if (!to) return;
    parallel_chunks(width, 512, [&](std::int64_t begin, std::int64_t end) {
      simd::for_row<C>(end - begin, [&](auto at) {
        vec<C> sum{};
        for (std::int64_t i = 0; i < ranges; ++i)
          sum += at.load(partial.data() + i * 2 * width + offset + begin);
        at.store(to + begin, sum);
      });
    });
  };
  add_up(p.dscale, 0);
  if constexpr (Center) add_up(p.dbias, width);
}

}  // namespace ricci::kernels::norm
