#include "kernels/softmax/softmax.hpp"

#include <cmath>
#include <limits>

#include "kernels/parallel/parallel.hpp"
#include "kernels/simd/axis_lines.hpp"
#include "kernels/simd/exp.hpp"
#include "kernels/simd/row.hpp"
#include "kernels/simd/visit_float.hpp"

namespace ricci::kernels {
namespace {

using simd::vec;

template <class C> constexpr C none = -std::numeric_limits<C>::infinity();

// What is subtracted from a line whose largest element is top: never -infinity, which would meet
// itself in the difference.
template <class C> vec<C> base_of(vec<C> top) {
  return simd::select<C>(top == none<C>, vec<C>{}, top);
}

// The logarithm of each lane of a sum of exponentials; 0 where nothing was summed.
template <class C> vec<C> log_of(vec<C> total) {
  for (int i = 0; i < simd::lanes<C>; ++i) total[i] = total[i] == C(0) ? C(0) : std::log(total[i]);
  return total;
}

template <bool Log, class T> void forward(axis_lines const& lines, T const* x, T* y) {
  using C = accumulator_t<T>;
  lines.for_each<C>([&](auto line) {
    vec<C> const base = base_of<C>(line.max([&](auto at) { return at.load(x); }));
    // A result keeps the exponentials until they are divided, except a narrow one, which would
    // round them, and bundles, whose masked stores would be read back before they are done.
    constexpr bool keeps = !Log && std::is_same_v<T, C> && decltype(line)::is_single();
    vec<C> const total = line.sum([&](auto at) {
      vec<C> const e = simd::exp<C>(at.load(x) - base);
      if constexpr (keeps) at.store(y, e);
      return e;
    });
    if constexpr (Log) {
      vec<C> const shift = log_of<C>(total);
      line.each([&](auto at) { at.store(y, (at.load(x) - base) - shift); });
    } else {
      vec<C> const inverse = simd::select<C>(total == C(0), vec<C>{}, C(1) / total);
      line.each([&](auto at) {
        if constexpr (keeps)
          at.store(y, at.load(y) * inverse);
        else
          at.store(y, simd::exp<C>(at.load(x) - base) * inverse);
      });
    }
  });
}

template <class T> void backward(axis_lines const& lines, T const* y, T const* dy, T* dx) {
  using C = accumulator_t<T>;
  lines.for_each<C>([&](auto line) {
    vec<C> const mean = line.sum([&](auto at) { return at.load(y) * at.load(dy); });
    line.each([&](auto at) { at.store(dx, at.load(y) * (at.load(dy) - mean)); });
  });
}

template <class T> void log_backward(axis_lines const& lines, T const* y, T const* dy, T* dx) {
  using C = accumulator_t<T>;
  lines.for_each<C>([&](auto line) {
    vec<C> const top = line.max([&](auto at) { return at.load(y); });
    vec<C> const sum = line.sum([&](auto at) { return at.load(dy); });
    simd::mask<C> const empty = top == none<C>;
    line.each([&](auto at) {
      vec<C> const slope = at.load(dy) - simd::exp<C>(at.load(y)) * sum;
      at.store(dx, simd::select<C>(empty, vec<C>{}, slope));
    });
  });
}

template <class T>
void lse_backward(axis_lines const& lines, T const* x, T const* lse, T const* dlse, T* dx) {
  using C = accumulator_t<T>;
  lines.for_each<C>([&](auto line) {
    vec<C> const total = line.load_one(lse);
    vec<C> const empty_free = base_of<C>(total);  // x is -infinity there, so e^x is 0
    vec<C> const slope = simd::select<C>(total == none<C>, vec<C>{}, line.load_one(dlse));
    line.each([&](auto at) { at.store(dx, simd::exp<C>(at.load(x) - empty_free) * slope); });
  });
}

}  // namespace

void softmax(dtype type, std::int64_t outer, std::int64_t axis, std::int64_t inner, void const* x,
             void* y) {
  axis_lines const lines(outer, axis, inner, "softmax");
  visit_float(type, "softmax", [&]<class T>(std::type_identity<T>) {
    forward<false>(lines, static_cast<T const*>(x), static_cast<T*>(y));
  });
}

void log_softmax(dtype type, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                 void const* x, void* y) {
  axis_lines const lines(outer, axis, inner, "log_softmax");
  visit_float(type, "log_softmax", [&]<class T>(std::type_identity<T>) {
    forward<true>(lines, static_cast<T const*>(x), static_cast<T*>(y));
  });
}

void softmax_backward(dtype type, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                      void const* y, void const* dy, void* dx) {
  axis_lines const lines(outer, axis, inner, "softmax_backward");
  visit_float(type, "softmax_backward", [&]<class T>(std::type_identity<T>) {
    backward(lines, static_cast<T const*>(y), static_cast<T const*>(dy), static_cast<T*>(dx));
  });
}

void log_softmax_backward(dtype type, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                          void const* y, void const* dy, void* dx) {
  axis_lines const lines(outer, axis, inner, "log_softmax_backward");
  visit_float(type, "log_softmax_backward", [&]<class T>(std::type_identity<T>) {
    log_backward(lines, static_cast<T const*>(y), static_cast<T const*>(dy), static_cast<T*>(dx));
  });
}

void logsumexp_backward(dtype type, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                        void const* x, void const* lse, void const* dlse, void* dx) {
  axis_lines const lines(outer, axis, inner, "logsumexp_backward");
  visit_float(type, "logsumexp_backward", [&]<class T>(std::type_identity<T>) {
    lse_backward(lines, static_cast<T const*>(x), static_cast<T const*>(lse),
                 static_cast<T const*>(dlse), static_cast<T*>(dx));
  });
}

}  // namespace ricci::kernels
