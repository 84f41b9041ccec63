#pragma once

#include <cstdint>

#include <ricci/exec/contract.hpp>
#include <ricci/plan/contraction.hpp>

#include "kernels/contract/contract.hpp"

/// Private to src/: a contraction by its indices.
namespace ricci::exec {

/// Per index its extent and its stride in each array. Diagonals are one index (their strides are
/// added); indices of extent 1 are left out.
struct contraction_terms {
  kernels::contraction_axis of[max_indices];  // by id
  std::uint32_t in_a = 0;                     // bit per id
  std::uint32_t in_b = 0;
  std::uint32_t in_result = 0;
  std::uint8_t result[max_rank] = {};  // ids in the result's order
  std::uint8_t a_ids[max_rank] = {};   // ids in the order of a's axes, each once
  std::uint8_t b_ids[max_rank] = {};
  int result_rank = 0;
  int a_rank = 0;
  int b_rank = 0;
  layout a_known;  // of the axes a_ids, where has_layouts
  layout b_known;
  bool has_layouts = false;
  std::int64_t result_count = 1;
  double operations = 1;  // product of all extents
  bool has_empty_sum = false;
};

/// Reads and checks the arguments; b may be null.
///   Errors  as contract()
contraction_terms read_terms(contraction_operand const& a, contraction_operand const* b,
                             contraction_result const& result,
                             contraction_epilogue const& epilogue);

/// The layout that strides have, as numbers: what is planned from where no layouts were given.
///   @post every merge that the strides allow is allowed, but for reversed axes
contraction_tensor tensor_of(contraction_terms const& terms, std::uint8_t const* ids, int rank,
                             std::int64_t kernels::contraction_axis::* stride);

/// The operands as they are planned from.
contraction_tensor planned_tensor(contraction_terms const& terms, bool is_a);

}  // namespace ricci::exec
