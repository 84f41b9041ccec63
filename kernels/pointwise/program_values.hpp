#pragma once

#include <string>

#include "kernels/pointwise/block_program.hpp"

namespace ricci::kernels {

/// The numbers of a program's values: operands, then constants, then instructions.
class program_values {
 public:
  /// Checks the program (all but its outputs), and fills in the target's types and constants.
  ///   Errors  those of run (pointwise.hpp)
  program_values(pointwise_program const& source, block_program& target);

  [[nodiscard]] value_number number(pointwise_value value) const;

  [[nodiscard]] int first_constant() const { return first_constant_; }
  [[nodiscard]] int first_instruction() const { return first_instruction_; }
  [[nodiscard]] int count() const { return count_; }

 private:
  void check_counts() const;
  void check_instruction(int i);

  pointwise_program const& source_;
  block_program& target_;
  int first_constant_, first_instruction_, count_;
};

/// Throws the value_error "pointwise: " + what.
[[noreturn]] void refuse_program(std::string const& what);

}  // namespace ricci::kernels
