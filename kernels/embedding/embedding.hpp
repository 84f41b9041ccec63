#pragma once

#include <cstdint>

#include <ricci/tensor/dtype.hpp>

namespace ricci::kernels {

/// Integer positions along an axis: [count], packed.
struct index_list {
  dtype type;  // any integer
  std::int64_t count;
  void const* data;
};

/// Rows of a table by their index: an embedding, or any selection along one axis.
///   Axes    table: [outer, vocab, inner] -> y: [outer, ids.count, inner], packed
///   Value   y(o, n, i) = table(o, ids(n), i)
///   Dtype   elements of `element_bytes` bytes of any type, copied
///   Cost    reads and writes y's bytes once
///   Errors  index_error: an id outside [0, vocab), with its position; value_error: ids that are
///           not integers; shape_error: a negative extent or too many elements
void take(std::int64_t outer, std::int64_t vocab, std::int64_t inner, std::int64_t element_bytes,
          void const* table, index_list const& ids, void* y);

/// The gradient of take: dtable(o, v, i) = sum over the n with ids(n) = v of dy(o, n, i).
///   Dtype   f32, f64, bf16 or f16; sums in f32 (f64: f64), one rounding at the end
///   Memory  dtable is overwritten, rows that no id names with zeros; workspace: ids.count + vocab
///           numbers
///   Cost    reads dy and writes dtable once; each row is summed in ascending n without atomics,
///           so the same bits at any number of threads
///   Errors  as take; value_error: another dtype
void take_backward(dtype type, std::int64_t outer, std::int64_t vocab, std::int64_t inner,
                   void const* dy, index_list const& ids, void* dtable);

}  // namespace ricci::kernels
