#include <algorithm>
#include <string>
#include <vector>

#include <ricci/error/exceptions.hpp>
#include <ricci/plan/order.hpp>

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

[[noreturn]] void too_many_indices() {
  throw value_error(
      "einsum: more than 24 indices are needed at once between three operands; "
      "contract some of them first");
}

// The indices of an intermediate, each an axis of its own.
pattern_group intermediate(pattern_group const& a, pattern_group const& b, std::uint32_t kept) {
  if (__builtin_popcount(kept) > max_rank) too_many_indices();
  pattern_group group;
  group.rank = static_cast<std::int8_t>(
      intermediate_axes(a.ids, a.size(), b.ids, b.size(), kept, group.ids));
  for (int i = 0; i <= group.rank; ++i) group.begin[i] = static_cast<std::int8_t>(i);
  return group;
}

// The indices of the operands and of the result, and the extents: all that an order depends on.
struct order_key {
  std::uint32_t masks[max_operands + 1] = {};
  std::int64_t extent[max_indices] = {};
  int operands = 0;
  int indices = 0;

  std::uint64_t hash() const {
    std::uint64_t h = static_cast<std::uint64_t>(operands);
    auto const add = [&](std::uint64_t word) {
      h = (h ^ word) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    };
    for (int i = 0; i <= operands; ++i) add(masks[i]);
    for (int id = 0; id < indices; ++id) add(static_cast<std::uint64_t>(extent[id]));
    return h;
  }
  friend bool operator==(order_key const& x, order_key const& y) {
    return x.operands == y.operands && x.indices == y.indices &&
           std::equal(x.masks, x.masks + x.operands + 1, y.masks) &&
           std::equal(x.extent, x.extent + x.indices, y.extent);
  }
};

contraction_order planned_order(order_key const& key) {
  std::uint32_t const result = key.masks[key.operands];
  contraction_order const order = plan_order(key.masks, key.operands, result, key.extent);
  if (order.fits || key.operands <= most_exhaustive) return order;
  // Greed ended with too many axes; an order may fit all the same.
  std::uint32_t used = result;
  for (int g = 0; g < key.operands; ++g) used |= key.masks[g];
  std::vector<detail::order_entry> table(std::size_t{1} << key.operands);
  return detail::order_search(remaining_operands(key.masks, key.operands, result),
                              detail::index_products(used, key.extent), table.data())
      .run();
}

// The order for these extents, remembered by this thread; it depends on nothing else.
contraction_order const& order_of(order_key const& key) {
  struct remembered {
    order_key key;
    contraction_order order;
  };
  constexpr std::size_t most_remembered = 64;
  thread_local std::vector<remembered> all(most_remembered);
  remembered& slot = all[key.hash() % most_remembered];
  if (slot.key == key) return slot.order;
  slot.order = planned_order(key);
  slot.key = key;
  return slot.order;
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
  order_key key;
  resolve_extents(spec, groups, axes, operands, given, key.extent);
  int at = 0;  // of the steering, behind the groups
  for (int g = 0; g <= spec.operands; ++g) at += 1 + groups[g].rank + groups[g].size();
  bool const is_steered = at + 1 < pattern_spec::code_capacity;
  auto const lowering = static_cast<lowering_code>(is_steered ? spec.code[at] : 0);
  bool const has_path = is_steered && spec.code[at + 1] > 0;

  auto const contracted = [&](handle a, pattern_group const& a_group, handle b,
                              pattern_group const& b_group, axes_view to,
                              pattern_group const& result) {
    auto rule = std::make_unique<contraction_rule>();
    rule->operands = 2;
    rule->indices = static_cast<std::int8_t>(spec.indices);
    rule->lowering = lowering;
    std::copy_n(key.extent, spec.indices, rule->extent);
    rule->group[0] = a_group;
    rule->group[1] = b_group;
    rule->result = result;
    handle in[] = {std::move(a), std::move(b)};
    return new_contraction(spec.who, to, std::move(rule), in);
  };
  if (spec.operands == 2)
    return contracted(operands[0], groups[0], operands[1], groups[1], axes, groups[2]);

  key.operands = spec.operands;
  key.indices = spec.indices;
  for (int g = 0; g <= spec.operands; ++g) key.masks[g] = groups[g].mask();
  std::int8_t const* position = nullptr;
  if (has_path) {
    position = spec.code + at + 2;
  } else {
    contraction_order const& order = order_of(key);
    if (!order.fits) too_many_indices();
    position = order.position;
  }
  remaining_operands left(key.masks, spec.operands, key.masks[spec.operands]);
  handle values[max_operands];
  for (int g = 0; g < spec.operands; ++g) values[g] = operands[g];
  for (;; position += 2) {
    int const i = position[0];
    int const j = position[1];
    if (left.count == 2)
      return contracted(std::move(values[i]), groups[i], std::move(values[j]), groups[j], axes,
                        groups[spec.operands]);
    pattern_group const product_group = intermediate(groups[i], groups[j], left.kept(i, j));
    axis_info const* unnamed[max_rank];
    for (int axis = 0; axis < product_group.rank; ++axis)
      unnamed[axis] = unnamed_axis(product_group.ids[axis]);
    handle product = contracted(std::move(values[i]), groups[i], std::move(values[j]), groups[j],
                                intern(unnamed, product_group.rank), product_group);
    left.contract(i, j);
    int kept = 0;
    for (int g = 0; g <= left.count; ++g) {
      if (g == i || g == j) continue;
      groups[kept] = groups[g];
      values[kept++] = std::move(values[g]);
    }
    groups[kept] = product_group;
    values[kept] = std::move(product);
  }
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
