#include "kernels/reduce/plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <ricci/error/exceptions.hpp>

namespace ricci::kernels {
namespace {

struct axis_order {
  std::array<int, max_pointwise_rank> axes;  // of the source
  int size = 0;
  void push(int axis) { axes[static_cast<std::size_t>(size++)] = axis; }
  int back() const { return axes[static_cast<std::size_t>(size - 1)]; }
  int* begin() { return axes.data(); }
  int* end() { return axes.data() + size; }
};

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    throw shape_error("reduce: the operand has 2^63 elements or more.");
  return product;
}

// The operand whose memory decides the order: the one with the most elements of its own.
pointwise_operand const* largest_operand(pointwise_program const& source) {
  pointwise_operand const* largest = nullptr;
  double most = 0;
  for (auto const& operand : source.operands) {
    double elements = 1;
    for (int axis = 0; axis < source.rank; ++axis)
      if (operand.strides[axis] != 0) elements *= static_cast<double>(source.extents[axis]);
    if (elements > most) most = elements, largest = &operand;
  }
  return largest;
}

bool is_reduced(std::uint32_t reduced, int axis) { return (reduced >> axis & 1) != 0; }

// Whether an axis is `next`'s continuation in every operand, so that the two count as one.
bool continues(pointwise_program const& source, int axis, int next, std::int64_t next_extent) {
  return std::all_of(source.operands.begin(), source.operands.end(), [&](auto const& operand) {
    std::int64_t span;
    return !__builtin_mul_overflow(operand.strides[next], next_extent, &span) &&
           operand.strides[axis] == span;
  });
}

void check(pointwise_program const& source, std::uint32_t reduced) {
  if (source.outputs.size() != 1)
    throw value_error("reduce: the program has " + std::to_string(source.outputs.size()) +
                      " outputs; it must have one.");
  if (source.rank < 0 || source.rank > max_pointwise_rank)
    throw value_error("reduce: the operand has rank " + std::to_string(source.rank) +
                      "; it must be 0 to " + std::to_string(max_pointwise_rank) + ".");
  if (reduced >> source.rank != 0)
    throw value_error("reduce: axes of the mask " + std::to_string(reduced) +
                      " are reduced, but the operand has rank " + std::to_string(source.rank) +
                      ".");
  for (int axis = 0; axis < source.rank; ++axis)
    if (source.extents[axis] < 0)
      throw shape_error("reduce: axis " + std::to_string(axis) + " has extent " +
                        std::to_string(source.extents[axis]) + "; an extent must not be negative.");
  if (source.operands.size() > max_pointwise_operands ||
      source.instructions.size() > max_pointwise_instructions)
    throw value_error("reduce: a program has " + std::to_string(source.operands.size()) +
                      " operands and " + std::to_string(source.instructions.size()) +
                      " instructions; split it.");
}

// Copies the program with its axes in another order.
void reorder(pointwise_program const& source, axis_order& order, std::int64_t column_extent,
             reduce_plan& plan) {
  plan.program = source;
  plan.program.rank = order.size;
  std::array<int, max_pointwise_rank> place{};
  for (int i = 0; i < order.size; ++i) {
    int const axis = order.axes[static_cast<std::size_t>(i)];
    place[static_cast<std::size_t>(axis)] = i;
    plan.extents[static_cast<std::size_t>(i)] =
        plan.by_columns && i + 1 == order.size ? column_extent : source.extents[axis];
  }
  plan.program.extents = plan.extents.data();
  for (std::size_t o = 0; o < source.operands.size(); ++o) {
    for (int i = 0; i < order.size; ++i)
      plan.strides[o][static_cast<std::size_t>(i)] =
          source.operands[o].strides[order.axes[static_cast<std::size_t>(i)]];
    plan.operands[o] = source.operands[o];
    plan.operands[o].strides = plan.strides[o].data();
  }
  plan.program.operands = {plan.operands.data(), source.operands.size()};
  std::copy(source.instructions.begin(), source.instructions.end(), plan.instructions.begin());
  for (std::size_t i = 0; i < source.instructions.size(); ++i)
    if (plan.instructions[i].op == opcode::index && plan.instructions[i].axis < source.rank)
      plan.instructions[i].axis = static_cast<std::uint8_t>(place[plan.instructions[i].axis]);
  plan.program.instructions = {plan.instructions.data(), source.instructions.size()};
}

}  // namespace

std::int64_t reduce_plan::output_offset(std::int64_t group) const {
  std::int64_t offset = 0;
  for (int i = outer_rank - 1; i >= 0; --i) {
    auto const a = static_cast<std::size_t>(i);
    offset += group % outer_extents[a] * outer_strides[a];
    group /= outer_extents[a];
  }
  return offset;
}

void make_plan(pointwise_program const& source, std::uint32_t reduced, reduce_freedom freedom,
               reduce_plan& plan) {
  check(source, reduced);
  bool const has_index =
      std::any_of(source.instructions.begin(), source.instructions.end(),
                  [](auto const& instruction) { return instruction.op == opcode::index; });
  // Axes of extent 1 say nothing, but an index names them.
  axis_order kept, counted;
  bool empty = false;
  for (int axis = 0; axis < source.rank; ++axis) {
    empty = empty || source.extents[axis] == 0;
    if (source.extents[axis] == 1 && !has_index) continue;
    (is_reduced(reduced, axis) ? counted : kept).push(axis);
  }
  plan.results = plan.count = 1;
  for (int const axis : kept) plan.results = checked_product(plan.results, source.extents[axis]);
  for (int const axis : counted) plan.count = checked_product(plan.count, source.extents[axis]);
  if (!empty) checked_product(plan.results, plan.count);

  pointwise_operand const* const largest = largest_operand(source);
  int nearest = -1;  // the axis along which memory runs
  auto const stride = [&](int axis) { return std::abs(largest->strides[axis]); };
  for (int axis = 0; largest != nullptr && axis < source.rank; ++axis)
    if (source.extents[axis] > 1 && stride(axis) != 0 &&
        (nearest < 0 || stride(axis) <= stride(nearest)))
      nearest = axis;
  if (largest != nullptr && freedom.any_order)
    std::sort(counted.begin(), counted.end(),
              [&](int a, int b) { return stride(a) != stride(b) ? stride(a) > stride(b) : a < b; });

  plan.by_columns = freedom.by_columns && nearest >= 0 && !is_reduced(reduced, nearest);
  axis_order order;
  if (!plan.by_columns) {
    for (int const axis : kept) order.push(axis);
    for (int const axis : counted) order.push(axis);
    reorder(source, order, 1, plan);
    return;
  }
  // The columns: `nearest`, and the kept axes before it as far as they continue it.
  int const last = static_cast<int>(std::find(kept.begin(), kept.end(), nearest) - kept.begin());
  int first = last;
  plan.columns = source.extents[nearest];
  while (first > 0 && !has_index &&
         continues(source, kept.axes[static_cast<std::size_t>(first - 1)], nearest, plan.columns)) {
    --first;
    plan.columns *= source.extents[kept.axes[static_cast<std::size_t>(first)]];
  }
  plan.outer_rank = 0;
  std::int64_t output_stride = 1;
  std::array<std::int64_t, max_pointwise_rank> output_strides{};
  for (int i = kept.size - 1; i >= 0; --i) {
    output_strides[static_cast<std::size_t>(i)] = output_stride;
    output_stride *= source.extents[kept.axes[static_cast<std::size_t>(i)]];
  }
  plan.column_stride = output_strides[static_cast<std::size_t>(last)];
  for (int i = 0; i < kept.size; ++i) {
    if (i >= first && i <= last) continue;
    int const axis = kept.axes[static_cast<std::size_t>(i)];
    auto const o = static_cast<std::size_t>(plan.outer_rank++);
    plan.outer_extents[o] = source.extents[axis];
    plan.outer_strides[o] = output_strides[static_cast<std::size_t>(i)];
    order.push(axis);
  }
  plan.outer = plan.columns > 0 ? plan.results / plan.columns : 0;
  for (int const axis : counted) order.push(axis);
  order.push(nearest);
  reorder(source, order, plan.columns, plan);
}

}  // namespace ricci::kernels
