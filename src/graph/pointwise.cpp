#include <string>

#include <ricci/error/exceptions.hpp>

#include "src/graph/compose.hpp"
#include "src/graph/value.hpp"

namespace ricci::graph {
namespace {

bool same_axes(value const& a, value const& b) {
  if (a.rank != b.rank) return false;
  if (a.axes == b.axes) return true;
  for (int i = 0; i < a.rank; ++i)
    if (a.axes[i] != b.axes[i]) return false;
  return true;
}

[[noreturn]] void fail(char const* who, std::string const& fact, handle const* operands,
                       int count) {
  throw shape_error(std::string(who) + ": " + fact + shapes_text(operands, count));
}

// The operand's axes are among the result's, with the same extents.
void check_axes(char const* who, handle const* operands, int count, int largest, int other) {
  value const& to = *operands[largest].get();
  value const& from = *operands[other].get();
  for (int i = 0; i < from.rank; ++i) {
    int const at = find_axis(to, from.axes[i]);
    std::string const axis = "axis `" + std::string(from.axes[i]->view()) + "` ";
    if (at < 0)
      fail(who,
           axis + "of operand " + std::to_string(other + 1) + " is not an axis of operand " +
               std::to_string(largest + 1) + "; write `broadcast`",
           operands, count);
    if (to.extents[at] == from.extents[i]) continue;
    int const first = largest < other ? largest : other;
    int const second = largest < other ? other : largest;
    std::int64_t const extent_first = largest < other ? to.extents[at] : from.extents[i];
    std::int64_t const extent_second = largest < other ? from.extents[i] : to.extents[at];
    fail(who,
         axis + "has extent " + std::to_string(extent_first) + " in operand " +
             std::to_string(first + 1) + " and " + std::to_string(extent_second) + " in operand " +
             std::to_string(second + 1),
         operands, count);
  }
}

bool same_extents(value const& a, value const& b) {
  for (int i = 0; i < a.rank; ++i)
    if (a.extents[i] != b.extents[i]) return false;
  return true;
}

}  // namespace

int find_axis(value const& v, axis_info const* axis) {
  for (int i = 0; i < v.rank; ++i)
    if (v.axes[i] == axis) return i;
  return -1;
}

handle pointwise(char const* who, opcode op, handle const* operands, int count) {
  int largest = 0;
  for (int i = 0; i < count; ++i) {
    value const& v = checked(operands[i]);
    if (v.rank > operands[largest]->rank) largest = i;
  }
  value const& like = *operands[largest].get();
  for (int i = 0; i < count; ++i) {
    value const& v = *operands[i].get();
    if (i == largest || v.rank == 0) continue;
    if (!same_axes(v, like) || !same_extents(v, like)) check_axes(who, operands, count, largest, i);
  }
  opcode_facts const& facts = facts_of(op);
  dtype const type = facts.gives_boolean   ? dtype::boolean
                     : op == opcode::where ? operands[1]->type
                                           : operands[0]->type;
  handle result = new_value(type, like.axes_of(), count);
  value& v = *result.get();
  v.computed_by = kind::pointwise;
  v.op = op;
  v.count = like.count;
  for (int i = 0; i < v.rank; ++i) v.extents[i] = like.extents[i];
  for (int i = 0; i < count; ++i) v.inputs[i] = operands[i];
  finish(v);
  return result;
}

handle convert(handle const& x, dtype to) {
  value& v = checked(x);
  if (v.type == to) return x;
  handle result = new_value(to, v.axes_of(), 1);
  value& y = *result.get();
  set_extents(y, v.extents, "to");
  y.computed_by = kind::pointwise;
  y.op = opcode::convert;
  y.inputs[0] = x;
  finish(y);
  return result;
}

handle constant(dtype type, double floating, std::int64_t integer) {
  return full(type, {nullptr, 0}, nullptr, floating, integer);
}

handle full(dtype type, axes_view axes, std::int64_t const* extents, double floating,
            std::int64_t integer) {
  handle result = new_value(type, axes);
  value& v = *result.get();
  set_extents(v, extents, "full");
  v.computed_by = kind::number;
  v.floating = floating;
  v.integer = integer;
  return result;
}

handle iota(dtype type, axes_view axes, std::int64_t const* extents, int along) {
  if (!is_integer(type)) return convert(iota(dtype::i64, axes, extents, along), type);
  handle result = new_value(type, axes);
  value& v = *result.get();
  set_extents(v, extents, "iota");
  v.computed_by = kind::pointwise;
  v.op = opcode::index;
  v.along = static_cast<std::int8_t>(along);
  return result;
}

}  // namespace ricci::graph
