#include "kernels/pointwise/block_program.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/visit_dtype.hpp>

#include "kernels/convert/convert_value.hpp"

namespace ricci::kernels {
namespace {

// Registers together stay below this, so that a block's working set fits the L1 cache (32 KiB on
// the smallest machines meant).
constexpr std::int64_t register_budget = 24 * 1024;

block_kernel find_kernel(block_opcode op, dtype type, unsigned scalars) {
  switch (type) {
    case dtype::f32:
      return find_f32_kernel(op, scalars);
    case dtype::f64:
      return find_f64_kernel(op, scalars);
    case dtype::boolean:
      return find_boolean_kernel(op, scalars);
    default:
      return find_integer_kernel(op, type, scalars);
  }
}

[[noreturn]] void refuse(std::string const& what) { throw value_error("pointwise: " + what); }

class compiler {
 public:
  compiler(pointwise_program const& source, bool whole_rows, block_program& target)
      : source_(source), target_(target), whole_rows_(whole_rows) {}

  void compile() {
    check_counts();
    number_values();
    count_uses();
    merge_axes();
    for (int v = 0; v < value_count_; ++v) registers_of(v) = registers_of(v, true) = -1;
    add_loads();
    fuse_products();
    for (int i = 0; i < instructions(); ++i) {
      if (uses_[first_instruction_ + i] == 0) continue;
      // A product of two scalars stays a scalar of its own.
      if (fused_[i] && has_scalar_sources(i)) fused_[i] = false;
      if (!fused_[i]) add_step(i);
    }
    for (std::size_t i = 0; i < source_.outputs.size(); ++i)
      target_.outputs[i] = number(source_.outputs[i].source);
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
      if (!target_.scalars[number(product.sources[static_cast<std::size_t>(s)])]) return false;
    return true;
  }

  void check_counts() {
    auto const at_most = [](std::size_t got, int most, char const* what) {
      if (got > static_cast<std::size_t>(most))
        refuse("a program has " + std::to_string(got) + " " + what + "; at most " +
               std::to_string(most) + " fit, split it.");
    };
    at_most(source_.operands.size(), max_pointwise_operands, "operands");
    at_most(source_.constants.size(), max_pointwise_constants, "constants");
    at_most(source_.instructions.size(), max_pointwise_instructions, "instructions");
    at_most(source_.outputs.size(), max_pointwise_outputs, "outputs");
    if (source_.rank < 0 || source_.rank > max_pointwise_rank)
      refuse("the result has rank " + std::to_string(source_.rank) + "; it must be 0 to " +
             std::to_string(max_pointwise_rank) + ".");
  }

  value_number number(pointwise_value value) const {
    int const before = value.from == pointwise_value::kind::operand    ? 0
                       : value.from == pointwise_value::kind::constant ? first_constant_
                                                                       : first_instruction_;
    int const after = value.from == pointwise_value::kind::operand    ? first_constant_
                      : value.from == pointwise_value::kind::constant ? first_instruction_
                                                                      : value_count_;
    int const result = before + value.index;
    if (result >= after)
      refuse("value " + std::to_string(value.index) + " of its kind is used, but there are only " +
             std::to_string(after - before) + ".");
    return static_cast<value_number>(result);
  }

  void number_values() {
    first_constant_ = operands();
    first_instruction_ = first_constant_ + static_cast<int>(source_.constants.size());
    value_count_ = first_instruction_ + instructions();
    target_.value_count = value_count_;
    target_.first_constant = first_constant_;
    target_.constant_count = static_cast<int>(source_.constants.size());
    for (int i = 0; i < operands(); ++i)
      target_.types[static_cast<std::size_t>(i)] = compute_type(source_.operands[i].type);
    for (int i = 0; i < target_.constant_count; ++i) {
      auto const& constant = source_.constants[static_cast<std::size_t>(i)];
      if (compute_type(constant.type) != constant.type)
        refuse("a constant has type " + std::string(name_of(constant.type)) +
               "; constants have compute types.");
      std::uint64_t& bytes = target_.constants[static_cast<std::size_t>(i)];
      visit(constant.type, [&]<class T>(std::type_identity<T>) {
        T const value = is_floating_v<T> ? convert_value<T>(constant.floating)
                                         : convert_value<T>(constant.integer);
        std::memcpy(&bytes, &value, sizeof value);
      });
      target_.types[static_cast<std::size_t>(first_constant_ + i)] = constant.type;
      target_.scalars[static_cast<std::size_t>(first_constant_ + i)] = true;
      once_[first_constant_ + i] = true;
    }
    for (int i = 0; i < instructions(); ++i) check_instruction(i);
  }

  void check_instruction(int i) {
    auto const& instruction = source_.instructions[static_cast<std::size_t>(i)];
    auto const& facts = facts_of(instruction.op);
    bool const known = instruction.type == dtype::boolean ? facts.on_boolean
                       : is_floating(instruction.type)    ? facts.on_floats
                                                          : facts.on_integers;
    bool const computed = compute_type(instruction.type) == instruction.type;
    if (!known || (!computed && instruction.op != opcode::convert))
      refuse(std::string(facts.name) + " is not defined on " +
             std::string(name_of(instruction.type)) + ".");
    if (instruction.op == opcode::index && instruction.axis >= source_.rank)
      refuse("index along axis " + std::to_string(instruction.axis) + " of a result of rank " +
             std::to_string(source_.rank) + ".");
    for (int s = 0; s < facts.arity; ++s) {
      auto const value = instruction.sources[static_cast<std::size_t>(s)];
      auto const v = number(value);
      if (value.from == pointwise_value::kind::instruction && value.index >= i)
        refuse("instruction " + std::to_string(i) + " reads instruction " +
               std::to_string(value.index) + ", which comes later.");
      if (instruction.op == opcode::convert) continue;
      dtype const expected =
          instruction.op == opcode::where && s == 0 ? dtype::boolean : instruction.type;
      if (target_.types[v] != expected)
        refuse(std::string(facts.name) + " expects " + std::string(name_of(expected)) +
               " as source " + std::to_string(s + 1) + " and got " +
               std::string(name_of(target_.types[v])) + ".");
    }
    target_.types[static_cast<std::size_t>(first_instruction_ + i)] = result_type(instruction);
  }

  void count_uses() {
    std::fill_n(uses_.begin(), value_count_, std::uint16_t{0});
    std::fill_n(fused_.begin(), instructions(), false);
    for (auto const& output : source_.outputs) {
      auto const v = number(output.source);
      if (compute_type(output.type) != target_.types[v])
        refuse("an output of type " + std::string(name_of(output.type)) + " takes a value of " +
               std::string(name_of(target_.types[v])) + "; convert it first.");
      kept_[v] = true;
      ++uses_[v];
    }
    for (int i = instructions() - 1; i >= 0; --i) {
      if (uses_[first_instruction_ + i] == 0) continue;
      auto const& instruction = source_.instructions[static_cast<std::size_t>(i)];
      for (int s = 0; s < arity_of(instruction.op); ++s)
        ++uses_[number(instruction.sources[static_cast<std::size_t>(s)])];
    }
  }

  std::int64_t count_places() const {
    bool empty = false, too_large = false;
    std::int64_t size = 1;
    for (int axis = 0; axis < source_.rank; ++axis) {
      std::int64_t const extent = source_.extents[axis];
      if (extent < 0)
        throw shape_error("pointwise: axis " + std::to_string(axis) + " has extent " +
                          std::to_string(extent) + "; an extent must not be negative.");
      empty = empty || extent == 0;
      too_large = __builtin_mul_overflow(size, extent, &size) || too_large;
    }
    if (empty) return 0;
    if (too_large) throw shape_error("pointwise: the result has 2^63 elements or more.");
    return size;
  }

  // Fills extents and strides with as few axes as describe all operands: an axis merges into the
  // next where every stride is the next one's times the next extent.
  void merge_axes() {
    int rows = 0;
    for (int i = 0; i < operands(); ++i)
      if (uses_[i] > 0) stride_source_[rows++] = i;
    for (int i = 0; i < instructions(); ++i)
      if (source_.instructions[static_cast<std::size_t>(i)].op == opcode::index &&
          uses_[first_instruction_ + i] > 0)
        stride_source_[rows++] = first_instruction_ + i;
    stride_rows_ = rows;
    target_.size = count_places();
    int rank = 0;
    for (int axis = 0; axis < source_.rank && target_.size > 0; ++axis) {
      std::int64_t const extent = source_.extents[axis];
      if (extent == 1) continue;
      bool merges = rank > 0;
      for (int r = 0; merges && r < rows; ++r) {
        std::int64_t span;
        merges = !__builtin_mul_overflow(stride_of(r, axis), extent, &span) &&
                 strides(r, rank - 1) == span;
      }
      if (!merges) target_.extents[static_cast<std::size_t>(rank++)] = 1;
      target_.extents[static_cast<std::size_t>(rank - 1)] *= extent;
      for (int r = 0; r < rows; ++r) strides(r, rank - 1) = stride_of(r, axis);
    }
    target_.rank = rank;
    target_.row = rank > 0 ? target_.extents[static_cast<std::size_t>(rank - 1)] : 1;
    target_.cut_at_rows = rank <= 1 || target_.row >= long_row;
  }

  std::int64_t& strides(int row, int axis) {
    return target_.strides[static_cast<std::size_t>(row)][static_cast<std::size_t>(axis)];
  }

  std::int64_t stride_of(int row, int axis) const {
    int const v = stride_source_[row];
    if (v < first_constant_) return source_.operands[static_cast<std::size_t>(v)].strides[axis];
    return source_.instructions[static_cast<std::size_t>(v - first_instruction_)].axis == axis;
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
      bool const is_index = v >= first_constant_;
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
                             : contiguous ? load_kind::in_place
                                          : load_kind::gather;
      block_load& load = target_.loads[static_cast<std::size_t>(target_.load_count++)];
      load = {kind, type, once, static_cast<value_number>(v), static_cast<std::uint8_t>(r), -1};
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

  // A product that one sum takes becomes part of it: fused_[product].
  void fuse_products() {
    for (int i = 0; i < instructions(); ++i) {
      auto const& sum = source_.instructions[static_cast<std::size_t>(i)];
      bool const fusable = (sum.op == opcode::add || sum.op == opcode::subtract) &&
                           (sum.type == dtype::f32 || sum.type == dtype::f64);
      product_of_[i] = -1;
      if (!fusable || uses_[first_instruction_ + i] == 0) continue;
      for (int s = 0; s < 2 && product_of_[i] < 0; ++s) {
        auto const value = sum.sources[static_cast<std::size_t>(s)];
        if (value.from != pointwise_value::kind::instruction) continue;
        auto const& product = source_.instructions[value.index];
        bool const multiplies = product.op == opcode::multiply || product.op == opcode::square;
        if (!multiplies || uses_[first_instruction_ + value.index] != 1) continue;
        product_of_[i] = static_cast<std::int16_t>(s);
        fused_[value.index] = true;
      }
    }
  }

  void add_step(int i) {
    auto const& instruction = source_.instructions[static_cast<std::size_t>(i)];
    if (instruction.op == opcode::index) return;  // a load
    auto const out = static_cast<value_number>(first_instruction_ + i);
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
      in[0] = number(product.sources[0]);
      in[1] = number(product.sources[product.op == opcode::square ? 0 : 1]);
      in[2] = number(instruction.sources[1 - side]);
      count = 3;
      for (int s = 0; s < arity_of(product.op); ++s) released[release_count++] = in[s];
      released[release_count++] = in[2];
    } else {
      for (int s = 0; s < count; ++s)
        released[release_count++] = in[s] =
            number(instruction.sources[static_cast<std::size_t>(s)]);
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
      refuse(std::string(name_of(instruction.op)) + " is not defined on " +
             std::string(name_of(instruction.type)) + ".");
    define(out, scalar, once, released, release_count);
    block_step& step = new_step(step_kind::kernel, out, scalar, once);
    step.kernel = kernel;
    step.sources = static_cast<std::uint8_t>(count);
    std::copy_n(in, 3, step.in);
  }

  void add_conversion(pointwise_instruction const& instruction, value_number out) {
    value_number in[3] = {number(instruction.sources[0])};
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
    std::int64_t block = block_limit;
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
    for (int v = 0; v < value_count_; ++v) {
      place(registers_of(v));
      place(registers_of(v, true));
    }
    for (int i = 0; i < target_.load_count; ++i)
      place(target_.loads[static_cast<std::size_t>(i)].staging);
    for (int i = 0; i < target_.step_count; ++i)
      place(target_.steps[static_cast<std::size_t>(i)].staging);
    target_.register_bytes = width_ * length;
  }

  pointwise_program const& source_;
  block_program& target_;
  bool whole_rows_;
  int first_constant_ = 0, first_instruction_ = 0, value_count_ = 0, stride_rows_ = 0;
  std::int32_t width_ = 0;
  std::array<std::uint16_t, max_block_values> uses_;
  std::array<bool, max_block_values> once_{}, kept_{};
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
