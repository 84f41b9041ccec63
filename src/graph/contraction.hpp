#pragma once

#include <ricci/exec/contract.hpp>

#include "src/graph/pattern.hpp"
#include "src/graph/value.hpp"

/// Private to src/graph: einsum, rearrange and repeat in index space.
namespace ricci::graph {

/// y[result] = sum over the indices that the result lacks of a[...] * b[...], or of a alone.
///   Value   an index of the result that no operand has broadcasts; one that stands there twice is
///           a diagonal, with zeros beside it. So the gradient of a contraction is one too
struct contraction_rule final : operation {
  std::int8_t operands = 1;
  std::int8_t indices = 0;
  bool may_be_view = false;                           // else the result is packed
  lowering_code lowering = lowering_code::automatic;  // of two operands
  pattern_group group[2];
  pattern_group result;
  std::int64_t extent[max_indices];

  void compute(value& y) const override;
  void vjp(value& y, handle const& dy, gradient_sink& sink) const override;
  bool needs_result() const override { return false; }
  void describe(statement_value& to, statement_contraction& contraction) const override;

  /// Is it a product of two operands whose result is written straight to packed storage, and so may
  /// end in an epilogue?
  bool takes_epilogue() const;
  /// Makes y a view of its operand a, where strides allow.
  bool look_at(value& y, value const& a) const;
  /// Computes into y's storage, which is allocated and may have another dtype.
  void contract_into(value const& a, value const& b, value const& y,
                     exec::contraction_epilogue const& epilogue) const;
};

/// A lazy value of the rule.
handle new_contraction(char const* who, axes_view axes, std::unique_ptr<contraction_rule> rule,
                       handle* operands);

}  // namespace ricci::graph
