#include "kernels/pointwise/block_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>

#include <ricci/error/exceptions.hpp>

#include "kernels/pointwise/merge_axes.hpp"
#include "kernels/pointwise/program_values.hpp"

namespace ricci::kernels {
namespace {

// A single operation leaves nothing between itself and the memory to keep in the cache, so longer
// blocks only save their overhead.
constexpr std::int64_t single_step_block = 4096;

// With panels, rows are read and written in longer pieces: at 512 it took 1.3 times as long. The
// panels together stay in the L2 cache.
constexpr std::int64_t panel_block = 2048;
constexpr std::int64_t panel_budget = 192 * 1024;

// Registers together stay below this, so that a block's working set fits the L1 cache (32 KiB on
// the smallest machines meant).
constexpr std::int64_t register_budget = 24 * 1024;

class compiler {
 public:
  compiler(pointwise_program const& source, bool whole_rows, block_program& target)
      : source_(source), target_(target), values_(source, target), whole_rows_(whole_rows) {
    std::fill_n(uses_.begin(), values_.count(), std::uint16_t{0});
    std::fill_n(once_.begin(), values_.count(), false);
    std::fill_n(kept_.begin(), values_.count(), false);
    std::fill_n(fused_.begin(), instructions(), false);
    for (int c = 0; c < target.constant_count; ++c) once_[values_.first_constant() + c] = true;
  }

  void compile() {
    count_uses();
    for (int i = 0; i < operands(); ++i)
      if (uses_[i] > 0) stride_source_[stride_rows_++] = i;
    for (int i = 0; i < instructions(); ++i)
      if (source_.instructions[static_cast<std::size_t>(i)].op == opcode::index &&
          uses_[values_.first_instruction() + i] > 0)
        stride_source_[stride_rows_++] = values_.first_instruction() + i;
    std::span<int const> const sources{stride_source_.data(),
                                       static_cast<std::size_t>(stride_rows_)};
    merge_axes(source_, values_, sources, target_);
    target_.panel_axis = -1;
    if (whole_rows_) choose_panel(values_, sources, target_);
    for (int v = 0; v < values_.count(); ++v) registers_of(v) = registers_of(v, true) = -1;
    add_loads();
    fuse_products();
    for (int i = 0; i < instructions(); ++i) {
      if (uses_[values_.first_instruction() + i] == 0) continue;
      // A product of two scalars stays a scalar of its own.
      if (fused_[i] && has_scalar_sources(i)) fused_[i] = false;
      if (!fused_[i]) add_step(i);
    }
    for (std::size_t i = 0; i < source_.outputs.size(); ++i)
      target_.outputs[i] = values_.number(source_.outputs[i].source);
    place_registers();
  }

 private:
  int operands() const { return static_cast<int>(source_.operands.size()); }
  int instructions() const { return static_cast<int>(source_.instructions.size()); }
  std::int32_t& registers_of(int value, bool spread = false) {
    return target_.registers[static_cast<std::size_t>(value + (spread ? max_block_values : 0))];
  }

  bool has_scalar_sources(int i) const {
    auto const& product = source_.instructions[static_cast<std::size_t>(i)];
    for (int s = 0; s < arity_of(product.op); ++s)
      if (!target_.scalars[values_.number(product.sources[static_cast<std::size_t>(s)])])
        return false;
    return true;
  }

  void count_uses() {
    for (auto const& output : source_.outputs) {
      auto const v = values_.number(output.source);
      if (compute_type(output.type) != target_.types[v])
        refuse_program("an output of type " + std::string(name_of(output.type)) +
                       " takes a value of " + std::string(name_of(target_.types[v])) +
                       "; convert it first.");
      kept_[v] = true;
      ++uses_[v];
    }
    for (int i = instructions() - 1; i >= 0; --i) {
      if (uses_[values_.first_instruction() + i] == 0) continue;
      auto const& instruction = source_.instructions[static_cast<std::size_t>(i)];
      for (int s = 0; s < arity_of(instruction.op); ++s)
        ++uses_[values_.number(instruction.sources[static_cast<std::size_t>(s)])];
    }
  }

  std::int64_t& strides(int row, int axis) {
    return target_.strides[static_cast<std::size_t>(row)][static_cast<std::size_t>(axis)];
  }

  bool is_packed(int row) {
    std::int64_t expected = 1;
    for (int axis = target_.rank - 1; axis >= 0; --axis) {
      if (strides(row, axis) != expected) return false;
      expected *= target_.extents[static_cast<std::size_t>(axis)];
    }
    return true;
  }

  void add_loads() {
    target_.load_count = 0;
    for (int r = 0; r < stride_rows_; ++r) {
      int const v = stride_source_[r];
      bool const is_index = v >= values_.first_constant();
      dtype const type = is_index ? target_.types[static_cast<std::size_t>(v)]
                                  : source_.operands[static_cast<std::size_t>(v)].type;
      if (!is_index)
        target_.data[static_cast<std::size_t>(r)] =
            source_.operands[static_cast<std::size_t>(v)].data;
      int const inner = target_.rank - 1;
      bool outer_fixed = true;
      for (int axis = 0; axis < inner; ++axis) outer_fixed = outer_fixed && strides(r, axis) == 0;
      bool const inner_fixed = inner < 0 || strides(r, inner) == 0;
      bool const scalar = inner_fixed && (target_.cut_at_rows || outer_fixed);
      bool const contiguous =
          !scalar && (target_.cut_at_rows ? strides(r, inner) == 1 : is_packed(r));
      // Short rows that repeat: every block of whole rows reads the same.
      bool const repeats = outer_fixed && !target_.cut_at_rows && whole_rows_;
      bool const once = (scalar && outer_fixed) || (!contiguous && repeats);
      bool const converts = !is_index && compute_type(type) != type;
      load_kind const kind = is_index ? (scalar ? load_kind::scalar_position : load_kind::position)
                             : scalar ? load_kind::scalar
                             : contiguous   ? load_kind::in_place
                             : is_turned(r) ? load_kind::panel
                                            : load_kind::gather;
      block_load& load = target_.loads[static_cast<std::size_t>(target_.load_count++)];
      load = {kind, type, once, static_cast<value_number>(v), static_cast<std::uint8_t>(r), -1};
      if (kind == load_kind::panel) {
        load.staging = static_cast<std::int32_t>(panel_width_);
        panel_width_ += panel_rows * size_of(type);
      }
      target_.scalars[static_cast<std::size_t>(v)] = scalar;
      once_[v] = once;
      if (kind == load_kind::position || kind == load_kind::gather || (converts && !scalar))
        registers_of(v) = new_register(target_.types[static_cast<std::size_t>(v)], once);
      if (kind == load_kind::gather && converts) {
        load.staging = new_register(type, false);
        free_register(load.staging, type);
      }
    }
  }

  bool is_turned(int row) {
    return target_.panel_axis >= 0 && std::abs(strides(row, target_.panel_axis)) == 1;
  }

  // A product that one sum takes becomes part of it: fused_[product].
  void fuse_products() {
    for (int i = 0; i < instructions(); ++i) {
      auto const& sum = source_.instructions[static_cast<std::size_t>(i)];
      bool const fusable = (sum.op == opcode::add || sum.op == opcode::subtract) &&
                           (sum.type == dtype::f32 || sum.type == dtype::f64);
      product_of_[i] = -1;
      if (!fusable || uses_[values_.first_instruction() + i] == 0) continue;
      for (int s = 0; s < 2 && product_of_[i] < 0; ++s) {
        auto const value = sum.sources[static_cast<std::size_t>(s)];
        if (value.from != pointwise_value::kind::instruction) continue;
        auto const& product = source_.instructions[value.index];
        bool const multiplies = product.op == opcode::multiply || product.op == opcode::square;
        if (!multiplies || uses_[values_.first_instruction() + value.index] != 1) continue;
        product_of_[i] = static_cast<std::int16_t>(s);
        fused_[value.index] = true;
      }
    }
  }

  void add_step(int i) {
    auto const& instruction = source_.instructions[static_cast<std::size_t>(i)];
    if (instruction.op == opcode::index) return;  // a load
    auto const out = static_cast<value_number>(values_.first_instruction() + i);
    if (instruction.op == opcode::convert) {
      add_conversion(instruction, out);
      return;
    }
    auto op = block_op(instruction.op);
    int count = arity_of(instruction.op);
    value_number in[3] = {};
    value_number released[3];
    int release_count = 0;
    int const side = product_of_[i];
    if (side >= 0 && fused_[instruction.sources[side].index]) {
      auto const& product = source_.instructions[instruction.sources[side].index];
      op = instruction.op == opcode::add ? block_op(opcode::fma)
           : side == 0                   ? block_opcode::multiply_subtract
                                         : block_opcode::subtract_multiply;
      in[0] = values_.number(product.sources[0]);
      in[1] = values_.number(product.sources[product.op == opcode::square ? 0 : 1]);
      in[2] = values_.number(instruction.sources[1 - side]);
      count = 3;
      for (int s = 0; s < arity_of(product.op); ++s) released[release_count++] = in[s];
      released[release_count++] = in[2];
    } else {
      for (int s = 0; s < count; ++s)
        released[release_count++] = in[s] =
            values_.number(instruction.sources[static_cast<std::size_t>(s)]);
    }
    bool const product =
        count == 3 && instruction.op != opcode::where && instruction.op != opcode::clamp;
    if (product && target_.scalars[in[0]]) std::swap(in[0], in[1]);
    unsigned scalars = 0;
    bool once = true;
    for (int s = 0; s < count; ++s) {
      if (target_.scalars[in[s]]) scalars |= 1u << s;
      once = once && once_[in[s]];
    }
    bool const scalar = scalars == (1u << count) - 1;
    block_kernel kernel = find_kernel(op, instruction.type, scalar ? 0 : scalars);
    if (kernel == nullptr && !scalar && scalars != 0) {
      for (int s = 0; s < count; ++s)
        if (scalars & (1u << s)) in[s] = spread(in[s]);
      kernel = find_kernel(op, instruction.type, 0);
    }
    if (kernel == nullptr)
      refuse_program(std::string(name_of(instruction.op)) + " is not defined on " +
                     std::string(name_of(instruction.type)) + ".");
    define(out, scalar, once, released, release_count);
    block_step& step = new_step(step_kind::kernel, out, scalar, once);
    step.kernel = kernel;
    step.sources = static_cast<std::uint8_t>(count);
    std::copy_n(in, 3, step.in);
  }

  void add_conversion(pointwise_instruction const& instruction, value_number out) {
    value_number in[3] = {values_.number(instruction.sources[0])};
    dtype const from = target_.types[in[0]], narrow = instruction.type;
    bool const scalar = target_.scalars[in[0]];
    bool const rounds = compute_type(narrow) != narrow;
    std::int32_t staging = -1;
    if (rounds && !scalar) {
      staging = new_register(narrow, false);
      free_register(staging, narrow);
    }
    // A staged conversion reads its source before it writes out, but not with the same width.
    define(out, scalar, once_[in[0]], in, 1);
    block_step& step =
        new_step(rounds ? step_kind::round : step_kind::convert, out, scalar, once_[in[0]]);
    step.from = from;
    step.to = narrow;
    step.in[0] = in[0];
    step.sources = 1;
    step.staging = staging;
  }

  // The number of a scalar's copy that fills a block.
  value_number spread(value_number v) {
    auto const copy = static_cast<value_number>(v + max_block_values);
    if (registers_of(v, true) >= 0) return copy;
    registers_of(v, true) = new_register(target_.types[v], true);
    block_step& step = new_step(step_kind::spread, copy, false, once_[v]);
    step.from = target_.types[v];
    step.in[0] = v;
    step.sources = 1;
    return copy;
  }

  block_step& new_step(step_kind kind, value_number out, bool scalar, bool once) {
    block_step& step = target_.steps[static_cast<std::size_t>(target_.step_count++)];
    step.kind = kind;
    step.out = out;
    step.scalar = scalar;
    step.once = once;
    step.staging = -1;
    return step;
  }

  // Gives `out` a register; the sources' registers become free with their last use.
  void define(value_number out, bool scalar, bool once, value_number const* in, int count) {
    target_.scalars[out] = scalar;
    once_[out] = once;
    dtype const type = target_.types[out];
    auto const release = [&](bool of_same_size) {
      for (int s = 0; s < count; ++s) {
        value_number const v = in[s];
        if (v >= max_block_values || registers_of(v) < 0 || once_[v] || kept_[v]) continue;
        if ((size_of(target_.types[v]) == size_of(type)) != of_same_size) continue;
        if (--uses_[v] == 0) free_register(registers_of(v), target_.types[v]);
      }
    };
    // Element by element, a kernel may overwrite its own source, when they have one width.
    release(true);
    if (!scalar) registers_of(out) = new_register(type, once);
    release(false);
  }

  // Registers are counted in bytes per element of a block until place_registers.
  std::int32_t new_register(dtype type, bool lasting) {
    auto const bytes = static_cast<std::int32_t>(size_of(type));
    auto& count = free_count_[static_cast<std::size_t>(bytes)];
    // A lasting one must not be written by an earlier step, so it never takes a freed place.
    if (!lasting && count > 0) return free_[static_cast<std::size_t>(bytes)][--count];
    std::int32_t const result = width_;
    width_ += bytes;
    return result;
  }

  void free_register(std::int32_t which, dtype type) {
    auto const bytes = static_cast<std::size_t>(size_of(type));
    free_[bytes][free_count_[bytes]++] = which;
  }

  void place_registers() {
    std::int64_t block = panel_width_ > 0                         ? panel_block
                         : whole_rows_ && target_.step_count <= 1 ? single_step_block
                                                                  : block_limit;
    while (block > 128 && panel_width_ * block > panel_budget) block /= 2;
    while (block > 128 && width_ * block > register_budget) block /= 2;
    // Shorter results need no more; a multiple of 64 keeps registers on cache lines.
    block = std::min(block, (target_.size + 63) / 64 * 64);
    std::int64_t const stride = std::max<std::int64_t>(block, 64);
    target_.block = block;
    if (!target_.cut_at_rows)
      target_.block = std::max<std::int64_t>(1, block / target_.row) * target_.row;
    std::int64_t const length = std::max(stride, (target_.block + 63) / 64 * 64);
    auto const place = [length](std::int32_t& which) {
      if (which >= 0) which = static_cast<std::int32_t>(which * length);
    };
    for (int v = 0; v < values_.count(); ++v) {
      place(registers_of(v));
      place(registers_of(v, true));
    }
    for (int i = 0; i < target_.load_count; ++i) {
      auto& load = target_.loads[static_cast<std::size_t>(i)];
      place(load.staging);
      // The panels stand behind the registers.
      if (load.kind == load_kind::panel) load.staging += static_cast<std::int32_t>(width_ * length);
    }
    for (int i = 0; i < target_.step_count; ++i)
      place(target_.steps[static_cast<std::size_t>(i)].staging);
    target_.register_bytes = (width_ + panel_width_) * length;
  }

  pointwise_program const& source_;
  block_program& target_;
  program_values const values_;
  bool whole_rows_;
  int stride_rows_ = 0;
  std::int32_t width_ = 0;  // bytes of all registers, per element of a block
  std::int64_t panel_width_ = 0;
  std::array<std::uint16_t, max_block_values> uses_;
  std::array<bool, max_block_values> once_, kept_;
  std::array<bool, max_pointwise_instructions> fused_;
  std::array<std::int16_t, max_pointwise_instructions> product_of_;
  std::array<int, max_pointwise_operands + max_pointwise_instructions> stride_source_;
  std::array<int, 9> free_count_{};
  std::array<std::array<std::int32_t, 2 * max_block_values>, 9> free_;
};

}  // namespace

void compile(pointwise_program const& source, bool whole_rows, block_program& target) {
  target.step_count = 0;
  compiler(source, whole_rows, target).compile();
}

}  // namespace ricci::kernels
