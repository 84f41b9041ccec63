#include <algorithm>
#include <string>
#include <vector>

#include <ricci/error/exceptions.hpp>

#include "kernels/copy/copy.hpp"
#include "src/graph/compose.hpp"
#include "src/graph/gradient.hpp"
#include "src/graph/value.hpp"

namespace ricci::graph {
namespace {

// Parts one behind the other along one axis, or each at one position of a new axis in front.
struct join_rule final : operation {
  join_rule(int axis, bool is_stack) : axis(axis), is_stack(is_stack) {}
  int axis;
  bool is_stack;

  void compute(value& y) const override {
    allocate(y);
    std::int64_t begin = 0;
    for (int i = 0; i < y.input_count; ++i) {
      value const& part = *y.inputs[i].get();
      char* const window = static_cast<char*>(y.data) + begin * y.strides[axis] * size_of(y.type);
      if (part.count > 0)
        kernels::copy(size_of(y.type), part.rank, part.extents, window,
                      y.strides + (is_stack ? 1 : 0), part.data, part.strides);
      begin += is_stack ? 1 : part.extents[axis];
    }
    ++count().copies;
  }
  void describe(statement_value& to, statement_contraction&) const override {
    to.kind = value_kind::join;
    to.axis = static_cast<std::int8_t>(axis);
  }

  void vjp(value& y, handle const& dy, gradient_sink& sink) const override {
    std::int64_t begin = 0;
    for (int i = 0; i < y.input_count; ++i) {
      handle const& part = y.inputs[i];
      std::int64_t const extent = is_stack ? 1 : part->extents[axis];
      if (sink.wants(part))
        sink.add(part, is_stack ? at(dy, part->axes_of(), 0, i)
                                : slice(dy, part->axes_of(), axis, begin, extent, 1));
      begin += extent;
    }
  }
};

[[noreturn]] void differ(char const* who, handle const* parts, int count, int axis, int other) {
  throw shape_error(std::string(who) + ": axis `" + std::string(parts[0]->axes[axis]->view()) +
                    "` has extent " + std::to_string(parts[0]->extents[axis]) +
                    " in operand 1 and " + std::to_string(parts[other]->extents[axis]) +
                    " in operand " + std::to_string(other + 1) + shapes_text(parts, count));
}

// More parts than a value has inputs are joined in groups first.
constexpr int most_parts = 100;

}  // namespace

handle concat(handle const* parts, int count, axes_view axes, int axis) {
  if (count < 1) throw value_error("concat: no operands; it joins at least one");
  std::int64_t extents[max_rank];
  for (int a = 0; a < axes.rank; ++a) extents[a] = checked(parts[0]).extents[a];
  for (int i = 1; i < count; ++i) {
    value const& part = checked(parts[i]);
    for (int a = 0; a < axes.rank; ++a) {
      if (a == axis) {
        if (__builtin_add_overflow(extents[a], part.extents[a], &extents[a]))
          throw shape_error("concat: the extents along axis `" + std::string(axes.axes[a]->view()) +
                            "` do not fit 63 bits");
      } else if (part.extents[a] != extents[a]) {
        differ("concat", parts, count, a, i);
      }
    }
  }
  std::int64_t const wanted = axes.axes[axis]->extent;
  if (wanted >= 0 && wanted != extents[axis])
    throw shape_error("concat: the operands have " + std::to_string(extents[axis]) +
                      " positions together, axis `" + std::string(axes.axes[axis]->view()) +
                      "` has extent " + std::to_string(wanted) + shapes_text(parts, count));
  dtype const type = parts[0]->type;
  axes_view const part_axes = parts[0]->axes_of();
  std::vector<handle> inputs(parts, parts + count);
  while (inputs.size() > most_parts) {
    std::vector<handle> joined;
    for (std::size_t i = 0; i < inputs.size(); i += most_parts) {
      std::size_t const n = std::min<std::size_t>(most_parts, inputs.size() - i);
      std::int64_t partial[max_rank];
      for (int a = 0; a < axes.rank; ++a) partial[a] = extents[a];
      partial[axis] = 0;
      for (std::size_t k = i; k < i + n; ++k) partial[axis] += inputs[k]->extents[axis];
      joined.push_back(new_operation(type, part_axes, partial, "concat",
                                     std::make_unique<join_rule>(axis, false), &inputs[i],
                                     static_cast<int>(n)));
    }
    inputs = std::move(joined);
  }
  return new_operation(type, axes, extents, "concat", std::make_unique<join_rule>(axis, false),
                       inputs.data(), static_cast<int>(inputs.size()));
}

handle stack(handle const* parts, int count, axes_view axes) {
  if (count < 1) throw value_error("stack: no operands; it joins at least one");
  value const& first = checked(parts[0]);
  std::int64_t extents[max_rank];
  extents[0] = count;
  for (int a = 0; a < first.rank; ++a) extents[a + 1] = first.extents[a];
  for (int i = 1; i < count; ++i)
    for (int a = 0; a < first.rank; ++a)
      if (checked(parts[i]).extents[a] != first.extents[a]) differ("stack", parts, count, a, i);
  if (std::int64_t const wanted = axes.axes[0]->extent; wanted >= 0 && wanted != count)
    throw shape_error("stack: " + std::to_string(count) + " operands, axis `" +
                      std::string(axes.axes[0]->view()) + "` has extent " + std::to_string(wanted) +
                      shapes_text(parts, count));
  if (count > most_parts) {
    // As parts of extent 1 along the new axis, joined by concat.
    std::int64_t const one = 1;
    axis_info const* wide[max_rank];
    for (int a = 0; a < axes.rank; ++a) wide[a] = axes.axes[a];
    wide[0] = unnamed_axis(0);
    axes_view const part_axes = intern(wide, axes.rank);
    std::vector<handle> inputs;
    for (int i = 0; i < count; ++i) inputs.push_back(broadcast(parts[i], part_axes, 1, &one));
    return concat(inputs.data(), count, axes, 0);
  }
  std::vector<handle> inputs(parts, parts + count);
  return new_operation(first.type, axes, extents, "stack", std::make_unique<join_rule>(0, true),
                       inputs.data(), count);
}

}  // namespace ricci::graph
