#include "kernels/pointwise/program_values.hpp"

#include <cstring>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/visit_dtype.hpp>

#include "kernels/convert/convert_value.hpp"

namespace ricci::kernels {

void refuse_program(std::string const& what) { throw value_error("pointwise: " + what); }

program_values::program_values(pointwise_program const& source, block_program& target)
    : source_(source), target_(target) {
  check_counts();
  first_constant_ = static_cast<int>(source_.operands.size());
  first_instruction_ = first_constant_ + static_cast<int>(source_.constants.size());
  count_ = first_instruction_ + static_cast<int>(source_.instructions.size());
  target_.value_count = count_;
  target_.first_constant = first_constant_;
  target_.constant_count = static_cast<int>(source_.constants.size());
  for (int i = 0; i < first_constant_; ++i)
    target_.types[static_cast<std::size_t>(i)] =
        compute_type(source_.operands[static_cast<std::size_t>(i)].type);
  for (int i = 0; i < target_.constant_count; ++i) {
    auto const& constant = source_.constants[static_cast<std::size_t>(i)];
    if (compute_type(constant.type) != constant.type)
      refuse_program("a constant has type " + std::string(name_of(constant.type)) +
                     "; constants have compute types.");
    std::uint64_t& bytes = target_.constants[static_cast<std::size_t>(i)];
    visit(constant.type, [&]<class T>(std::type_identity<T>) {
      T const value = is_floating_v<T> ? convert_value<T>(constant.floating)
                                       : convert_value<T>(constant.integer);
      std::memcpy(&bytes, &value, sizeof value);
    });
    target_.types[static_cast<std::size_t>(first_constant_ + i)] = constant.type;
    target_.scalars[static_cast<std::size_t>(first_constant_ + i)] = true;
  }
  for (int i = 0; i < count_ - first_instruction_; ++i) check_instruction(i);
}

value_number program_values::number(pointwise_value value) const {
  int const before = value.from == pointwise_value::kind::operand    ? 0
                     : value.from == pointwise_value::kind::constant ? first_constant_
                                                                     : first_instruction_;
  int const after = value.from == pointwise_value::kind::operand    ? first_constant_
                    : value.from == pointwise_value::kind::constant ? first_instruction_
                                                                    : count_;
  int const result = before + value.index;
  if (result >= after)
    refuse_program("value " + std::to_string(value.index) +
                   " of its kind is used, but there are only " + std::to_string(after - before) +
                   ".");
  return static_cast<value_number>(result);
}

void program_values::check_counts() const {
  auto const at_most = [](std::size_t got, int most, char const* what) {
    if (got > static_cast<std::size_t>(most))
      refuse_program("a program has " + std::to_string(got) + " " + what + "; at most " +
                     std::to_string(most) + " fit, split it.");
  };
  at_most(source_.operands.size(), max_pointwise_operands, "operands");
  at_most(source_.constants.size(), max_pointwise_constants, "constants");
  at_most(source_.instructions.size(), max_pointwise_instructions, "instructions");
  at_most(source_.outputs.size(), max_pointwise_outputs, "outputs");
  if (source_.rank < 0 || source_.rank > max_pointwise_rank)
    refuse_program("the result has rank " + std::to_string(source_.rank) + "; it must be 0 to " +
                   std::to_string(max_pointwise_rank) + ".");
}

void program_values::check_instruction(int i) {
  auto const& instruction = source_.instructions[static_cast<std::size_t>(i)];
  auto const& facts = facts_of(instruction.op);
  bool const known = instruction.type == dtype::boolean ? facts.on_boolean
                     : is_floating(instruction.type)    ? facts.on_floats
                                                        : facts.on_integers;
  bool const computed = compute_type(instruction.type) == instruction.type;
  if (!known || (!computed && instruction.op != opcode::convert))
    refuse_program(std::string(facts.name) + " is not defined on " +
                   std::string(name_of(instruction.type)) + ".");
  if (instruction.op == opcode::index && instruction.axis >= source_.rank)
    refuse_program("index along axis " + std::to_string(instruction.axis) +
                   " of a result of rank " + std::to_string(source_.rank) + ".");
  for (int s = 0; s < facts.arity; ++s) {
    auto const value = instruction.sources[static_cast<std::size_t>(s)];
    auto const v = number(value);
    if (value.from == pointwise_value::kind::instruction && value.index >= i)
      refuse_program("instruction " + std::to_string(i) + " reads instruction " +
                     std::to_string(value.index) + ", which comes later.");
    if (instruction.op == opcode::convert) continue;
    dtype const expected =
        instruction.op == opcode::where && s == 0 ? dtype::boolean : instruction.type;
    if (target_.types[v] != expected)
      refuse_program(std::string(facts.name) + " expects " + std::string(name_of(expected)) +
                     " as source " + std::to_string(s + 1) + " and got " +
                     std::string(name_of(target_.types[v])) + ".");
  }
  target_.types[static_cast<std::size_t>(first_instruction_ + i)] = result_type(instruction);
}

}  // namespace ricci::kernels
