#pragma once

#include <cstdint>

#include <ricci/tensor/dtype.hpp>
#include <ricci/tensor/random.hpp>

namespace ricci::kernels {

// Fills of packed elements with random numbers. In all of them element i depends on the key, on i
// and on the distribution alone: not on count, on the number of threads, or on the compiler. One
// key gives every distribution the same random bits: fold it for each use.
//   Axes    target: [count] of type
//   Dtype   f64 draws and computes in f64 (two words of Philox an element); the other floats in
//           f32 (one word) and round once; f8 as well, though its numbers are few
//   Cost    one pass, vectorized, on all threads from 32768 elements
//   Errors  value_error for a negative count, a dtype of another kind, and a parameter that is out
//           of order, not finite, or not finite in the dtype

/// Uniform in [low, high); low everywhere if they are equal.
///   Value   low + u (high - low), u a multiple of 2^-24 (f64: 2^-53); rounded into [low, high)
void fill_uniform(random::key key, void* target, dtype type, std::int64_t count, double low,
                  double high);

/// Normal with the given mean and standard deviation, which is not negative.
///   Value   by inversion (transform.hpp): never beyond 6.3 standard deviations (f64: 9.2)
void fill_normal(random::key key, void* target, dtype type, std::int64_t count, double mean,
                 double deviation);

/// Normal under the condition that low <= value <= high; both in the units of the values, and
/// infinite where there is no bound.
///   Value   by inversion in f64 for every dtype. Where the interval lies beyond 9.2 standard
///           deviations from the mean it gives the bound nearer to the mean
void fill_truncated_normal(random::key key, void* target, dtype type, std::int64_t count,
                           double mean, double deviation, double low, double high);

/// True with probability p; target is [count] of boolean.
///   Value   p is rounded to a multiple of 2^-32
void fill_bernoulli(random::key key, void* target, std::int64_t count, double p);

/// Integers in [low, high), all equally probable; type is an integer dtype that holds them.
///   Value   Lemire's multiplication, redrawn where it would favour a value
///   Source  Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019
void fill_integers(random::key key, void* target, dtype type, std::int64_t count, std::int64_t low,
                   std::int64_t high);

/// The numbers 0 to count - 1 in random order; type is i64 or i32.
///   Value   the order of 64 random bits drawn for each, equal ones by number: every order has
///           the same probability up to count^2 / 2^65. It depends on count
///   Cost    O(count): one scatter into buckets, which are sorted each in the cache
///   Memory  16 bytes an element meanwhile
void fill_permutation(random::key key, void* target, dtype type, std::int64_t count);

}  // namespace ricci::kernels
