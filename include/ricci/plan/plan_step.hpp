#pragma once

#include <cstdint>

#include <ricci/plan/lowering.hpp>

namespace ricci {

/// What one step of a plan does.
///   view       nothing in memory: the same elements under other axes
///   pack       copies an operand of a contraction, its summed indices summed on the way
///   gemm       a matrix product, or one with batch axes, of the backend
///   loops      a contraction by own loops on the operands as they lie
///   permute    copies the product of a contraction into the result's order
///   copy       a permuted or joining copy
///   loop       a fused elementwise loop, or a fill
///   reduction  one pass over what is reduced, with what is fused into it
///   kernel     an operation with a kernel of its own: softmax, norms, attention, gathers
enum class step_kind : std::uint8_t {
  view,
  pack,
  gemm,
  loops,
  permute,
  copy,
  loop,
  reduction,
  kernel
};

/// One step; bytes are compulsory: each operand and the result once.
struct plan_step {
  step_kind kind = step_kind::view;
  lowering_code lowering = lowering_code::automatic;  // of a contraction
  std::int8_t operand = 0;                            // of pack, counted from 1
  bool is_apart = false;   // of gemm: what follows it takes a pass of its own
  int value = -1;          // of the statement, that it computes
  int origin = -1;         // the contraction or the operation that it runs for
  int fused = 0;           // elementwise operations on the way
  int operands = 0;        // arrays read
  std::int64_t batch = 0;  // of a contraction: batch products of [m, k] and [k, n]
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t operations = 0;
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t temporary_bytes = 0;  // taken beside the result, and given back at the end
  std::int64_t live_bytes = 0;       // the most that the statement holds while it runs
  int first_read = 0;                // in the plan's list of what was read, where it is kept
  int first_node = 0;                // the same for the elementwise values that were fused
  int nodes = 0;

  /// The largest number where the sum does not fit.
  constexpr std::int64_t bytes() const {
    return bytes_read > INT64_MAX - bytes_written ? INT64_MAX : bytes_read + bytes_written;
  }
};

/// What a plan comes to.
struct plan_totals {
  int gemms = 0;     // matrix products of the backend, each with all its batch
  int copies = 0;    // of whatever elements: packed operands, permuted results, copies, joins
  int launches = 0;  // everything but views
  int views = 0;
  int loops = 0;  // fused elementwise loops, and contractions by own loops
  int reductions = 0;
  int kernels = 0;
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
  std::int64_t temporary_bytes = 0;   // at its peak, the result not counted
  std::int64_t result_bytes = 0;      // newly taken for the result
  std::int64_t peak_bytes = 0;        // both, at the peak
  std::int64_t value_peak_bytes = 0;  // the same without what contractions pack
  bool result_is_view = false;        // of a step's memory: `tensor h = e` copies it
};

}  // namespace ricci
