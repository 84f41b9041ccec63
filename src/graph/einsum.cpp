#include <string>

#include <ricci/error/exceptions.hpp>

#include "src/graph/compose.hpp"
#include "src/graph/contraction.hpp"

namespace ricci::graph {
namespace {

void check_operands(pattern_spec const& spec, handle const* operands) {
  for (int g = 0; g < spec.operands; ++g)
    if (checked(operands[g]).type != operands[0]->type)
      throw value_error(std::string(spec.who) + ": operand 1 is " +
                        std::string(name_of(operands[0]->type)) + ", operand " +
                        std::to_string(g + 1) + " is " + std::string(name_of(operands[g]->type)) +
                        "; dtypes do not mix, write `to<>`");
}

// The product of the first operands so far, by index: every index that is still needed.
pattern_group kept_indices(std::uint32_t kept) {
  pattern_group group;
  for (int id = 0; id < max_indices; ++id) {
    if (!(kept >> id & 1)) continue;
    if (group.rank == max_rank)
      throw value_error(
          "einsum: more than 24 indices are needed at once between three operands; "
          "contract some of them first");
    group.ids[group.rank++] = static_cast<std::int8_t>(id);
    group.begin[group.rank] = group.rank;
  }
  return group;
}

handle one_pattern(pattern_spec const& spec, axes_view axes, handle const& x,
                   std::int64_t const* given, bool may_be_view) {
  check_operands(spec, &x);
  auto rule = std::make_unique<contraction_rule>();
  pattern_group groups[2];
  read_groups(spec, groups);
  rule->group[0] = groups[0];
  rule->result = groups[1];
  rule->indices = static_cast<std::int8_t>(spec.indices);
  rule->may_be_view = may_be_view;
  resolve_extents(spec, groups, axes, &x, given, rule->extent);
  contraction_rule const& how = *rule;
  handle in = x;
  handle result = new_contraction(spec.who, axes, std::move(rule), &in);
  // A view of what exists costs nothing now, and is one from here on; a copy waits.
  if (x->evaluated && how.look_at(*result.get(), *x.get())) mark_evaluated(*result.get());
  return result;
}

}  // namespace

handle einsum(pattern_spec const& spec, axes_view axes, handle const* operands,
              std::int64_t const* given) {
  if (spec.operands == 1) return one_pattern(spec, axes, operands[0], given, false);
  check_operands(spec, operands);
  pattern_group groups[max_operands + 1];
  read_groups(spec, groups);
  pattern_group const& result = groups[spec.operands];
  std::int64_t extents[max_indices];
  resolve_extents(spec, groups, axes, operands, given, extents);
  handle product = operands[0];
  pattern_group product_group = groups[0];
  for (int g = 1; g < spec.operands; ++g) {
    bool const is_last = g + 1 == spec.operands;
    auto rule = std::make_unique<contraction_rule>();
    rule->operands = 2;
    rule->indices = static_cast<std::int8_t>(spec.indices);
    for (int id = 0; id < spec.indices; ++id) rule->extent[id] = extents[id];
    rule->group[0] = product_group;
    rule->group[1] = groups[g];
    axes_view to = axes;
    if (is_last) {
      rule->result = result;
    } else {
      std::uint32_t needed = result.mask();
      for (int later = g + 1; later < spec.operands; ++later) needed |= groups[later].mask();
      rule->result = kept_indices((product_group.mask() | groups[g].mask()) & needed);
      axis_info const* unnamed[max_rank];
      for (int i = 0; i < rule->result.rank; ++i) unnamed[i] = unnamed_axis(rule->result.ids[i]);
      to = intern(unnamed, rule->result.rank);
      product_group = rule->result;
    }
    handle in[] = {std::move(product), operands[g]};
    product = new_contraction(spec.who, to, std::move(rule), in);
  }
  return product;
}

handle rearrange(pattern_spec const& spec, axes_view axes, handle const& x,
                 std::int64_t const* given) {
  return one_pattern(spec, axes, x, given, true);
}

handle repeat(pattern_spec const& spec, axes_view axes, handle const& x,
              std::int64_t const* given) {
  return one_pattern(spec, axes, x, given, false);
}

}  // namespace ricci::graph
