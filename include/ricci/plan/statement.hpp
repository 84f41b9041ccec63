#pragma once

#include <cstdint>

#include <ricci/axis/axis.hpp>
#include <ricci/plan/contraction.hpp>
#include <ricci/plan/lowering.hpp>
#include <ricci/tensor/dtype.hpp>
#include <ricci/tensor/layout.hpp>
#include <ricci/tensor/opcode.hpp>
#include <ricci/tensor/view_step.hpp>

/// A statement as plain data: what an expression's type says while compiling, and what the graph of
/// values says at run time. plan/planner.hpp plans from either.
namespace ricci {

/// What a value of a statement is computed by.
///   leaf         it exists already: a tensor, a view, what a const name evaluated
///   number       the same number at every place, fused into whatever takes it
///   pointwise    one elementwise operation
///   view         the same elements under other axes; `op` is a view_step
///   contraction  one or two operands by index: einsum, rearrange, repeat
///   reduction    `op` is a reduction, `mask` the axes that go
///   join         operands side by side: concat, stack
///   other        a rule of differentiation: one kernel
enum class value_kind : std::uint8_t {
  leaf,
  number,
  pointwise,
  view,
  contraction,
  reduction,
  cumsum,
  join,
  take,
  softmax,
  log_softmax,
  layer_norm,
  rms_norm,
  cross_entropy,
  attention,
  other
};

/// The axes of one operand or of the result of a contraction, each as its factors, slowest first.
struct indexed_axes {
  std::int8_t rank = 0;
  std::int8_t begin[max_rank + 1] = {};  // axis a has the factors begin[a] ... begin[a + 1]
  std::int8_t ids[2 * max_indices] = {};

  constexpr int size() const { return begin[rank]; }
  constexpr std::uint32_t mask() const {
    std::uint32_t bits = 0;
    for (int i = 0; i < size(); ++i) bits |= std::uint32_t{1} << ids[i];
    return bits;
  }
  constexpr bool has_all_distinct() const {
    std::uint32_t bits = 0;
    for (int i = 0; i < size(); ++i) {
      if (bits >> ids[i] & 1) return false;
      bits |= std::uint32_t{1} << ids[i];
    }
    return true;
  }
  /// Is each axis one index, and no index two axes'?
  constexpr bool is_plain() const { return size() == rank && has_all_distinct(); }
  /// Another axis, of one index.
  constexpr void push(int id) {
    ids[size()] = static_cast<std::int8_t>(id);
    begin[rank + 1] = static_cast<std::int8_t>(begin[rank] + 1);
    ++rank;
  }
};

/// y[result] = sum over the indices that the result lacks of a[...] * b[...], or of a alone.
struct statement_contraction {
  std::int8_t operands = 1;
  bool may_be_view = false;
  lowering_code forced = lowering_code::automatic;
  indexed_axes group[2];
  indexed_axes result;
  std::int64_t extent[max_indices] = {};
};

/// The most dynamic axes that the costs of a statement may depend on.
inline constexpr int max_symbols = 16;

/// numerator / denominator times a power of each dynamic axis: an extent, or a product of them.
struct monomial {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;
  std::int8_t power[max_symbols] = {};
};

/// One value.
struct statement_value {
  value_kind kind = value_kind::leaf;
  dtype type = dtype::f32;
  std::uint8_t op = 0;         // opcode, view_step or graph::reduction
  bool is_recorded = false;    // its history is kept for a gradient
  bool is_number_one = false;  // of a number: it is 1
  std::int8_t rank = 0;
  std::int8_t axis = 0;    // along which; of broadcast: how many new axes
  std::int8_t second = 0;  // of diagonal; of slice: is there a step?
  std::int8_t permutation[max_rank] = {};
  std::uint32_t mask = 0;
  int inputs = 0;                 // how many
  int first_input = 0;            // in statement::inputs
  int first_extent = 0;           // in statement::extents
  int contraction = -1;           // in statement::contractions
  int references = 0;             // everything that holds it, other values included
  int storage = -1;               // of a leaf: in statement::storages
  bool is_whole_storage = false;  // of a leaf: its data is where the storage begins
  std::int64_t count = 1;
  axis_info const* const* axes = nullptr;
  layout order;  // of a leaf
};

/// The memory of leaves.
struct statement_storage {
  std::int64_t bytes = 0;
  int references = 0;  // values and others
  bool is_borrowed = false;
};

/// Values in an order in which inputs come before what takes them.
struct statement {
  statement_value* values = nullptr;
  int* inputs = nullptr;
  std::int64_t* extents = nullptr;
  monomial* terms = nullptr;  // beside extents, where there are dynamic axes
  statement_contraction* contractions = nullptr;
  monomial* index_terms = nullptr;  // [contractions * max_indices]
  statement_storage* storages = nullptr;
  axis_info const** axes = nullptr;  // of values whose axes stand in no list of the program's
  int axes_count = 0;
  int value_count = 0;
  int input_count = 0;
  int extent_count = 0;
  int contraction_count = 0;
  int storage_count = 0;
  int root_value = 0;

  constexpr int root() const { return root_value; }
  constexpr int input(int value, int i) const { return inputs[values[value].first_input + i]; }
  constexpr std::int64_t extent(int value, int axis) const {
    return extents[values[value].first_extent + axis];
  }
};

/// a * b, the largest number where that does not fit.
constexpr std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
constexpr std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

}  // namespace ricci
