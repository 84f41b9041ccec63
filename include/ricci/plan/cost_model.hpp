#pragma once

#include <ricci/plan/contraction_work.hpp>

namespace ricci {
namespace detail {

// Nanoseconds of each kind: by loops in f32 and in bf16, by the library in f32 and in bf16.
//   Source  bench/plan/fit.py, so that the fastest candidate has the least sum, from timings by
//           bench/plan/lowerings.cpp of some 290 contractions in both dtypes (two cores, AVX-512)
inline constexpr double nanoseconds[work_kinds][4] = {
    {1900, 910, 1500, 1400},            // call
    {390, 0.000097, 240, 200},          // item
    {0.002, 0.00096, 0.0019, 0.00089},  // operation
    {0.0022, 0.027, 0.003, 0.0013},     // column_waste
    {0.024, 0.032, 0.00036, 0.004},     // row_waste
    {0.3, 0.018, 0, 0.027},             // left
    {0.15, 0.26, 0, 0.015},             // right
    {0.14, 0.38, 0.019, 0},             // result
    {0, 0.16, 0.017, 0.021},            // left_across
    {0.14, 0.41, 0, 0},                 // right_across
    {0, 1.2, 0, 0},                     // left_run
    {0.39, 0.48, 0, 0},                 // right_run
    {0, 0.25, 0, 0},                    // result_run
    {0.0077, 0, 0, 0.0062},             // cold
    {0.00043, 38, 0.00043, 38},         // copy
    {0.046, 0.016, 0.046, 0.016},       // copied
    {0.8, 0.019, 0.8, 0.019},           // copied_run
    {0.017, 0.018, 0.017, 0.018},       // copied_cold
    {0, 0, 0, 0},                       // result_line
    {0.0000042, 260, 340, 86},          // item_left_across
    {0, 0.00073, 0.00029, 0.00013},     // operation_left_across
    {1.2, 0, 0, 0},                     // result_apart
    {0, 0, 64, 100},                    // item_left_loose
    {0, 0, 54, 110},                    // item_right_loose
    {0, 0, 0.00011, 0.00013},           // operation_left_loose
    {0, 0, 0.00032, 0.0018},            // operation_right_loose
    {0, 0, 0.2, 0.73},                  // result_loose
    {0, 0.1, 0, 0},                     // result_again
    {0.55, 3.9, 0, 0},                  // left_run_cold
    {0.29, 0.74, 0, 0},                 // right_run_cold
    {0.71, 0.17, 0, 0},                 // result_run_cold
    {1.1, 0.99, 1.1, 0.99},             // copied_turned
};

}  // namespace detail

/// How long a planned contraction takes, roughly, on two cores: which candidate is the fastest.
///   Units   seconds; only ratios between candidates mean something
///   Source  a weighted sum of what it does (detail::nanoseconds)
constexpr double predicted_seconds(contraction_plan const& plan, contraction_request const& r) {
  detail::work_done const w = detail::count_work(plan, r);
  int const column = (plan.gemms() > 0 ? 2 : 0) + (size_of(r.type) < 4 ? 1 : 0);
  double sum = 0;
  for (int i = 0; i < detail::work_kinds; ++i) sum += w.of[i] * detail::nanoseconds[i][column];
  return sum * 1e-9;
}

}  // namespace ricci
