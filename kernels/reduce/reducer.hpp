#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/pointwise/block_program.hpp"
#include "kernels/reduce/reduce.hpp"

namespace ricci::kernels {

/// What a reduction knows of the elements that one result has seen: a sum, a maximum and its
/// position, ... Each reducer stores its own types in the bytes.
struct reduce_state {
  alignas(8) std::byte first[8];
  alignas(8) std::byte second[8];
};

/// Such states for up to a block of neighbouring results, as two arrays so that loops vectorize.
struct reduce_lanes {
  alignas(64) std::byte first[8 * block_limit];
  alignas(64) std::byte second[8 * block_limit];
};

/// One reduction on one compute type. `position` is how far into the reduced axes (flattened) the
/// first element stands.
struct reducer {
  reduce_state start;  // of no element
  void (*fold)(reduce_state& state, void const* elements, std::int64_t n, std::int64_t position);
  void (*merge)(reduce_state& state, reduce_state const& other);
  void (*finish)(reduce_state const& state, std::int64_t count, void* result);
  dtype result;  // what finish writes

  // Lane i sees elements[i], which stands at position + rows[i].
  void (*clear)(reduce_lanes& lanes, std::int64_t n, std::int64_t position,
                std::int64_t const* rows);
  void (*accumulate)(reduce_lanes& lanes, void const* elements, std::int64_t n,
                     std::int64_t position, std::int64_t const* rows);
  reduce_state (*lane)(reduce_lanes const& lanes, std::int64_t i);
  void (*finish_lanes)(reduce_lanes const& lanes, std::int64_t n, std::int64_t count,
                       void* results);
};

/// The reducer for an operation (but user) on elements of a compute type.
///   Errors  value_error where there is none
reducer const& find_reducer(reduction op, dtype type);

}  // namespace ricci::kernels
