#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <ricci/plan/statement.hpp>
#include <ricci/tensor/graph.hpp>

/// Private to src/graph: what a handle points to.
namespace ricci::graph {

class gradient_sink;

/// How a value that is neither a number nor pointwise is computed, and its gradient. Immutable.
struct operation {
  operation() = default;
  operation(operation const&) = delete;
  operation& operator=(operation const&) = delete;
  virtual ~operation() = default;

  /// Called before `compute`; an operation that takes expressions as they are says so here.
  virtual void evaluate_inputs(value& y) const;
  /// Fills y: storage, data, strides and order.
  virtual void compute(value& y) const = 0;
  /// Adds to `sink` what each input of y that it wants receives from dy, the gradient of y.
  virtual void vjp(value& y, handle const& dy, gradient_sink& sink) const = 0;
  /// Does vjp read the elements of y?
  virtual bool needs_result() const { return true; }
  /// What `explain` is told: the kind of the value and its numbers, or its contraction.
  virtual void describe(statement_value&, statement_contraction&) const {}
};

/// What a value is computed by. A leaf is storage alone.
enum class kind : std::uint8_t { leaf, number, pointwise, operation };

/// A node of the lazy graph.
///   Memory   counted by `references`; small values come from a free list of their thread
///   Threads  immutable once evaluated; evaluating the same value from two threads at once is a
///   race
struct value {
  static constexpr int small_rank = 6;
  static constexpr int small_inputs = 3;

  std::atomic<std::int32_t> references{1};
  dtype type{};
  kind computed_by = kind::leaf;
  opcode op{};
  bool evaluated = false;
  std::int8_t rank = 0;
  std::int16_t input_count = 0;
  std::int8_t along = 0;      // the axis of opcode::index
  std::uint64_t levels = 0;   // bit l: depends on a leaf of the open level l
  std::int64_t sequence = 0;  // grows with every value made: inputs come before what takes them
  std::int64_t count = 1;     // elements
  axis_info const* const* axes = nullptr;
  std::int64_t* extents = nullptr;  // [rank]
  std::int64_t* strides = nullptr;  // [rank], in elements, once evaluated
  handle* inputs = nullptr;         // [input_count]
  void* data = nullptr;
  storage_handle storage;
  layout order;
  double floating = 0;  // of a number
  std::int64_t integer = 0;
  std::unique_ptr<operation const> how;
  value* next = nullptr;  // among the values of a level, or in the free list
  value* previous = nullptr;
  std::int64_t small_numbers[2 * small_rank];
  handle small_input[small_inputs];

  axes_view axes_of() const { return {axes, rank}; }
  bool is_number() const { return computed_by == kind::number && !evaluated; }
  /// A pointwise value still to be computed: what a loop may take up.
  bool is_open() const { return computed_by == kind::pointwise && !evaluated; }
};

// --- making values -----------------------------------------------------------------------------
/// A new value with room for `rank` extents and strides and `inputs` inputs; count not yet set.
handle new_value(dtype type, axes_view axes, int inputs = 0);
/// Sets extents and count. Errors: a negative extent, or a size beyond 2^63 bytes (shape_error).
void set_extents(value& v, std::int64_t const* extents, char const* who);
/// Completes a value after its inputs were set: which levels it depends on.
void finish(value& v);
/// A lazy value of an operation; the inputs are moved from.
handle new_operation(dtype type, axes_view axes, std::int64_t const* extents, char const* who,
                     std::unique_ptr<operation const> how, handle* inputs, int count);
/// The same axes as one list that lives as long as the program.
axes_view intern(axis_info const* const* axes, int rank);
/// Stand-ins for axes without a name, all different: 0 ... max_indices - 1.
axis_info const* unnamed_axis(int i);

// --- evaluating ----------------------------------------------------------------------------------
/// New packed storage for a value that is being computed.
void allocate(value& v);
/// The value shares storage: its data lies in that of `owner`; strides and order are set apart.
void share(value& v, value const& owner, std::int64_t element_offset);
void set_packed_strides(value& v);
/// No longer computed by anything: inputs, operation and levels go.
void forget(value& v);

/// Its storage holds the elements now.
void mark_evaluated(value& v);
/// A packed copy of an evaluated value, without history.
handle copied(handle const& x);

/// Throws value_error where the handle is empty.
value& checked(handle const& x);
value& evaluated(handle const& x);

// --- levels of differentiation ------------------------------------------------------------------
/// Which levels do new values record no history for? Those whose gradients are being computed.
std::uint64_t& suppressed_levels();
/// x itself under another way of computing it: evaluated, the same storage, x its only input.
handle alias(handle const& x, std::unique_ptr<operation const> how);
/// Enters a value into the list of its innermost level; takes it out and clears its levels.
void link_level(value& v);
void unlink_level(value& v);

// --- sentences -----------------------------------------------------------------------------------
/// `[batch 8, seq 128, hidden 64]`
std::string shape_text(value const& v);
/// `; operand 1 is [batch 8], operand 2 is [seq 4]`
std::string shapes_text(handle const* operands, int count);

counters& count();

}  // namespace ricci::graph
