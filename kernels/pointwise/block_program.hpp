#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/pointwise/block_kernels.hpp"
#include "kernels/pointwise/pointwise.hpp"

/// The compiled form of a pointwise program, shared by the fused loop and the reductions: they walk
/// the same blocks and differ in what they do with a block's values.
namespace ricci::kernels {

/// Elements of a block. f32 registers of 2 KiB: a dozen fit the L1 cache, and the time that one
/// operation takes is short enough for the hardware to fetch the next block meanwhile (with 1024
/// the fused GELU of 4 M elements took 1.5 times as long).
inline constexpr std::int64_t block_limit = 512;

/// Rows from this length on are cut into blocks one by one; shorter ones share a block.
inline constexpr std::int64_t long_row = 256;

/// Every value of a program has a number: operands, then constants, then instructions. The number
/// plus max_block_values names its copy that is spread out over a block.
inline constexpr int max_block_values =
    max_pointwise_operands + max_pointwise_constants + max_pointwise_instructions;

/// Rows of a panel: 64 bytes of f32, so that a line of the source is read once.
inline constexpr std::int64_t panel_rows = 16;

using value_number = std::uint16_t;

/// How the block of an operand (or of an index) comes about.
enum class load_kind : std::uint8_t {
  scalar,    // one element for the block, read in place
  in_place,  // contiguous, read where it lies
  gather,    // strided: copied into a register
  panel,     // strided, but packed for several rows at once: a row of the panel
  position,  // of an index: base + k * stride, into a register
  scalar_position,
};

struct block_load {
  load_kind kind;
  dtype type;            // in memory
  bool once;             // the same in every block
  value_number value;    // what it defines
  std::uint8_t strides;  // which row of block_program::strides
  // The first byte in the scratch of the elements before conversion, or of the panel; or -1.
  std::int32_t staging;
};

enum class step_kind : std::uint8_t { kernel, convert, round, spread };

/// One operation on a block. Values that are scalars are computed with n = 1.
struct block_step {
  step_kind kind;
  dtype from, to;  // convert: compute types; round: `to` is the narrow float
  bool once;       // the same in every block
  bool scalar;     // out is one element
  std::uint8_t sources;
  block_kernel kernel;
  value_number out;
  value_number in[3];
  std::int32_t staging;  // round: the register of the narrow values
};

/// A program whose axes are merged, whose operations are kernels and whose values have registers.
/// Large and trivially constructed: only the entries below the counts are ever touched.
struct block_program {
  std::int64_t size;   // places of the result
  std::int64_t row;    // extent of the last merged axis
  std::int64_t block;  // longest block
  bool cut_at_rows;    // no block may cross the end of a row
  bool whole_rows;     // otherwise: whether every block starts at a row's start
  int rank;            // of the merged axes
  int panel_axis;      // of the rows that a panel holds, or -1: no operand has panels
  int load_count, step_count, value_count;
  std::int64_t register_bytes;  // scratch that a thread needs

  std::array<std::int64_t, max_pointwise_rank> extents;
  // [operands and indices][rank], in elements
  std::array<std::array<std::int64_t, max_pointwise_rank>,
             max_pointwise_operands + max_pointwise_instructions>
      strides;
  std::array<void const*, max_pointwise_operands> data;
  int first_constant, constant_count;
  std::array<std::uint64_t, max_pointwise_constants> constants;  // the number in its type's bytes
  std::array<block_load, max_pointwise_operands + max_pointwise_instructions> loads;
  std::array<block_step, 4 * max_pointwise_instructions> steps;

  // Indexed by value_number; a register is its first byte in the scratch, or -1.
  std::array<std::int32_t, 2 * max_block_values> registers;
  std::array<dtype, max_block_values> types;
  std::array<bool, max_block_values> scalars;
  // Per output: the value it takes.
  std::array<value_number, max_pointwise_outputs> outputs;
};

/// Checks and compiles a program. With `whole_rows` the caller promises that every block starts at
/// a multiple of target.block (but for cuts at rows), which lets more be computed once, and that it
/// holds no block itself; otherwise no block is longer than block_limit.
///   Errors  those of run (pointwise.hpp)
void compile(pointwise_program const& source, bool whole_rows, block_program& target);

struct scratch_deleter {
  void operator()(std::byte* memory) const;
};

/// Walks the blocks of a compiled program on one thread.
class block_cursor {
 public:
  explicit block_cursor(block_program const& program);
  ~block_cursor();
  block_cursor(block_cursor const&) = delete;
  block_cursor& operator=(block_cursor const&) = delete;

  /// Elements of the block that starts at `begin`, at most `limit`.
  [[nodiscard]] std::int64_t length(std::int64_t begin, std::int64_t limit) const;

  /// Computes the places [begin, begin + n) of the row-major result. @pre n <= length(begin, n)
  void evaluate(std::int64_t begin, std::int64_t n);

  /// Packs the panels of the places [begin, begin + n) and of the same places in the rows that
  /// follow along panel_axis, `rows` in all. @pre rows <= panel_rows, n <= length(begin, n)
  void fill_panels(std::int64_t begin, std::int64_t rows, std::int64_t n);

  /// Asks for the operands of a later block that are read where they lie.
  void prefetch(std::int64_t begin, std::int64_t n) const;

  /// The block of a value, or one element where program.scalars[v].
  [[nodiscard]] void const* at(value_number v) const { return table_[v]; }

  /// Lets a value be computed at `target` from now on, instead of in its register.
  void place(value_number v, void* target) { table_[v] = target; }

 private:
  void locate(std::int64_t row);
  void load(block_load const& load, std::int64_t begin, std::int64_t n);
  void run(block_step const& step, std::int64_t n);
  template <class Run>
  void for_each_run(std::size_t strides, std::int64_t begin, std::int64_t n, Run run) const;

  block_program const& program_;
  std::byte* scratch_;
  std::unique_ptr<std::byte, scratch_deleter> own_;
  bool uses_kept_;
  std::int64_t row_ = -1;  // where offsets_ stand
  bool once_done_ = false;
  std::int64_t panel_first_ = 0, panel_length_ = 0;  // along panel_axis; of a row
  std::array<std::int64_t, max_pointwise_rank> coordinates_;
  std::array<std::int64_t, max_pointwise_operands + max_pointwise_instructions> offsets_;
  std::array<void*, 2 * max_block_values> table_;
  std::array<std::uint64_t, max_block_values> scalar_storage_;
};

/// n copies of one element of `size` bytes.
void fill_block(void* target, void const* value, std::int64_t size, std::int64_t n);

}  // namespace ricci::kernels
