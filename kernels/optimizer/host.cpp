#include "kernels/optimizer/optimizer.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "kernels/parallel/parallel.hpp"
#include "kernels/simd/extents.hpp"
#include "kernels/simd/row.hpp"
#include "kernels/simd/visit_float.hpp"

namespace ricci::kernels {
namespace {

using simd::vec;

// Elements of one task: 32768 of f32 AdamW are 900 KB of traffic, some twenty microseconds.
constexpr std::int64_t grain = 32768;

template <class C> vec<C> square_root(vec<C> v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(C) == 4)
    return reinterpret_cast<vec<C>>(_mm512_maskz_sqrt_ps(0xffff, reinterpret_cast<__m512>(v)));
  else
    return reinterpret_cast<vec<C>>(_mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(v)));
#else
  for (int i = 0; i < simd::lanes<C>; ++i) v[i] = std::sqrt(v[i]);
  return v;
#endif
}

// Replaces each vector of the parameter by step(at, parameter, gradient); `at` reads and writes the
// state beside it.
template <class T, class F> void update(parameter_slice const& p, F step) {
  using C = accumulator_t<T>;
  auto* const parameter = static_cast<T*>(p.parameter);
  auto const* const gradient = static_cast<T const*>(p.gradient);
  auto* const master = static_cast<C*>(p.master);
  parallel_chunks(p.count, grain, [&](std::int64_t begin, std::int64_t end) {
    simd::for_row<C>(end - begin, [&](auto at) {
      at.i += begin;
      vec<C> const before = master ? at.load(master) : at.load(parameter);
      vec<C> const after = step(at, before, at.load(gradient));
      if (master) at.store(master, after);
      at.store(parameter, after);
    });
  });
}

template <class T> void adamw(parameter_slice const& p, accumulator_t<T>* m, accumulator_t<T>* v,
                              adamw_options const& o) {
  using C = accumulator_t<T>;
  auto const steps = static_cast<double>(o.step);
  // The factors in f64: beta2^step is close to 1 for many steps. expm1 keeps 1 - beta^step exact.
  auto const missing = [&](double beta) {
    return beta > 0 ? -std::expm1(steps * std::log(beta)) : 1.0;
  };
  C const scale = static_cast<C>(o.gradient_scale);
  C const beta1 = static_cast<C>(o.beta1);
  C const beta2 = static_cast<C>(o.beta2);
  C const rest1 = static_cast<C>(1.0 - o.beta1);
  C const rest2 = static_cast<C>(1.0 - o.beta2);
  C const kept = static_cast<C>(1.0 - o.learning_rate * o.weight_decay);
  C const rate = static_cast<C>(o.learning_rate / missing(o.beta1));
  C const root = static_cast<C>(1.0 / std::sqrt(missing(o.beta2)));
  C const epsilon = static_cast<C>(o.epsilon);
  update<T>(p, [=](auto at, vec<C> before, vec<C> gradient) {
    vec<C> const g = gradient * scale;
    vec<C> const first = at.load(m) * beta1 + g * rest1;
    vec<C> const second = at.load(v) * beta2 + g * g * rest2;
    at.store(m, first);
    at.store(v, second);
    return before * kept - rate * first / (square_root<C>(second) * root + epsilon);
  });
}

template <class T>
void sgd(parameter_slice const& p, accumulator_t<T>* velocity, sgd_options const& o) {
  using C = accumulator_t<T>;
  C const scale = static_cast<C>(o.gradient_scale);
  C const decay = static_cast<C>(o.weight_decay);
  C const rate = static_cast<C>(o.learning_rate);
  C const momentum = static_cast<C>(o.momentum);
  C const fresh = o.first_step ? C(1) : static_cast<C>(1.0 - o.dampening);
  bool const nesterov = o.nesterov;
  bool const first = o.first_step;
  update<T>(p, [=](auto at, vec<C> before, vec<C> gradient) {
    vec<C> g = gradient * scale + before * decay;
    if (velocity) {
      vec<C> const u = first ? g : at.load(velocity) * momentum + g * fresh;
      at.store(velocity, u);
      g = nesterov ? g + u * momentum : u;
    }
    return before - g * rate;
  });
}

// Adds the squares of v to sum, in f64.
template <class C> void add_squares(vec<C> v, vec<double> (&sum)[2]) {
  if constexpr (sizeof(C) == 8) {
    sum[0] += v * v;
  } else {
    using half = typename simd::detail::vector_type<float, simd::vector_bytes / 2>::type;
    half parts[2];
    std::memcpy(parts, &v, sizeof v);
    for (int i = 0; i < 2; ++i) {
      vec<double> const wide = __builtin_convertvector(parts[i], vec<double>);
      sum[i] += wide * wide;
    }
  }
}

template <class T> double squares_of_range(std::int64_t count, T const* x) {
  using C = accumulator_t<T>;
  constexpr int n = simd::lanes<C>;
  vec<double> even[2] = {};
  vec<double> odd[2] = {};
  std::int64_t i = 0;
  for (; i + 2 * n <= count; i += 2 * n) {
    add_squares<C>(simd::load<C>(x + i), even);
    add_squares<C>(simd::load<C>(x + i + n), odd);
  }
  simd::for_row<C>(count - i, [&](auto at) { add_squares<C>(at.load(x + i), even); });
  return simd::sum_lanes<double>((even[0] + even[1]) + (odd[0] + odd[1]));
}

}  // namespace

void adamw_step(parameter_slice const& p, void* first_moment, void* second_moment,
                adamw_options const& options) {
  checked_count({p.count}, "adamw_step");
  if (options.step < 1)
    throw value_error("adamw_step: the step is " + std::to_string(options.step) +
                      "; steps count from 1.");
  visit_float(p.type, "adamw_step", [&]<class T>(std::type_identity<T>) {
    using C = accumulator_t<T>;
    adamw<T>(p, static_cast<C*>(first_moment), static_cast<C*>(second_moment), options);
  });
}

void sgd_step(parameter_slice const& p, void* velocity, sgd_options const& options) {
  checked_count({p.count}, "sgd_step");
  if (options.momentum != 0 && velocity == nullptr && p.count > 0)
    throw value_error("sgd_step: the momentum is " + std::to_string(options.momentum) +
                      " and there is no velocity; momentum needs one.");
  visit_float(p.type, "sgd_step", [&]<class T>(std::type_identity<T>) {
    sgd<T>(p, static_cast<accumulator_t<T>*>(velocity), options);
  });
}

double sum_of_squares(dtype type, std::int64_t count, void const* x) {
  checked_count({count}, "sum_of_squares");
  double total = 0;
  visit_float(type, "sum_of_squares", [&]<class T>(std::type_identity<T>) {
    auto const* const from = static_cast<T const*>(x);
    std::vector<double> sums(static_cast<std::size_t>((count + grain - 1) / grain));
    parallel_chunks(count, grain, [&](std::int64_t begin, std::int64_t end) {
      sums[begin / grain] = squares_of_range<T>(end - begin, from + begin);
    });
    for (double const sum : sums) total += sum;
  });
  return total;
}

}  // namespace ricci::kernels
