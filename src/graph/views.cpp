#include <string>
#include <vector>

#include <ricci/error/exceptions.hpp>

#include "kernels/copy/copy.hpp"
#include "src/graph/compose.hpp"
#include "src/graph/gradient.hpp"
#include "src/graph/value.hpp"

namespace ricci::graph {
namespace {

using step = view_step;

// One view operation: how the strides of its result follow from those of its operand.
struct view_rule {
  step what;
  std::int8_t axis = 0;    // of the operand; of broadcast: how many new axes
  std::int8_t second = 0;  // of diagonal
  std::int64_t begin = 0;
  std::int64_t stride = 1;
  std::int8_t permutation[max_rank]{};

  // Which axis of the operand is axis i of the result? -1 for a new one.
  int source(int i) const {
    switch (what) {
      case step::permute:
        return permutation[i];
      case step::at:
        return i < axis ? i : i + 1;
      case step::diagonal:
        return i < second ? i : i + 1;
      case step::broadcast:
        return i < axis ? -1 : i - axis;
      default:
        return i;
    }
  }

  // Strides, order and place of the result in the storage of x.
  void look(value& y, value const& x) const {
    for (int i = 0; i < y.rank; ++i) {
      int const from = source(i);
      y.strides[i] = from < 0 ? 0 : x.strides[from];
    }
    std::int64_t offset = 0;
    switch (what) {
      case step::permute:
        y.order = permuted(x.order, permutation);
        break;
      case step::rename:
        y.order = x.order;
        break;
      case step::at:
        offset = begin * x.strides[axis];
        y.order = ricci::at(x.order, axis);
        break;
      case step::slice:
        offset = y.count == 0 ? 0 : begin * x.strides[axis];
        y.strides[axis] *= stride;
        y.order = sliced(x.order, axis, stride);
        break;
      case step::reverse:
        offset = y.count == 0 ? 0 : (x.extents[axis] - 1) * x.strides[axis];
        y.strides[axis] = -y.strides[axis];
        y.order = reversed(x.order, axis);
        break;
      case step::diagonal:
        y.strides[axis < second ? axis : axis - 1] = x.strides[axis] + x.strides[second];
        y.order = ricci::diagonal(x.order, axis, second);
        break;
      case step::broadcast:
        y.order = broadcast_front(x.order, axis);
        break;
    }
    share(y, x, offset);
  }
};

handle view_of(handle const& x, axes_view axes, std::int64_t const* extents, char const* who,
               view_rule const& rule);

// Zeros, but each view sees its own operand: the gradient of views of one value that do not
// overlap, and the transpose of taking them.
struct placing final : operation {
  struct part {
    view_rule rule;
    axes_view seen;
  };
  std::vector<part> parts;

  void compute(value& y) const override {
    allocate(y);
    if (!cover(y)) kernels::zero(y.data, y.count * size_of(y.type));
    for (int i = 0; i < y.input_count; ++i) {
      value const& from = *y.inputs[i].get();
      handle const window = new_value(y.type, parts[static_cast<std::size_t>(i)].seen);
      value& to = *window.get();
      set_extents(to, from.extents, "view");
      parts[static_cast<std::size_t>(i)].rule.look(to, y);
      kernels::copy(size_of(y.type), to.rank, to.extents, to.data, to.strides, from.data,
                    from.strides);
    }
    ++count().copies;
  }
  void describe(statement_value& to, statement_contraction&) const override {
    to.kind = value_kind::join;
  }
  void vjp(value& y, handle const& dy, gradient_sink& sink) const override {
    for (int i = 0; i < y.input_count; ++i)
      if (sink.wants(y.inputs[i]))
        sink.add(y.inputs[i],
                 view_of(dy, parts[static_cast<std::size_t>(i)].seen, y.inputs[i]->extents, "view",
                         parts[static_cast<std::size_t>(i)].rule));
  }
  bool needs_result() const override { return false; }

  // The positions of the one axis along which a part is a window; none for other views.
  struct range {
    std::int64_t begin = 0, end = 0;
  };
  range range_of(value const& y, int i) const {
    view_rule const& rule = parts[static_cast<std::size_t>(i)].rule;
    if (rule.what == step::at) return {rule.begin, rule.begin + 1};
    if (rule.what == step::slice && rule.stride == 1)
      return {rule.begin, rule.begin + y.inputs[i]->extents[rule.axis]};
    return {};
  }

 private:
  // Is every position of the axis a part's?
  bool cover(value const& y) const {
    std::int64_t positions = 0;
    for (int i = 0; i < y.input_count; ++i) positions += range_of(y, i).end - range_of(y, i).begin;
    return positions == y.extents[parts[0].rule.axis] && y.input_count > 0;
  }
};

struct viewing final : operation {
  explicit viewing(view_rule const& rule) : rule(rule) {}
  view_rule rule;

  void compute(value& y) const override { rule.look(y, *y.inputs[0].get()); }
  void describe(statement_value& to, statement_contraction&) const override {
    to.kind = value_kind::view;
    to.op = static_cast<std::uint8_t>(rule.what);
    to.axis = rule.axis;
    to.second = rule.what == step::slice ? rule.stride != 1 : rule.second;
    for (int i = 0; i < max_rank; ++i) to.permutation[i] = rule.permutation[i];
  }

  void vjp(value& y, handle const& dy, gradient_sink& sink) const override {
    handle const& x = y.inputs[0];
    switch (rule.what) {
      case step::permute: {
        std::int8_t inverse[max_rank];
        for (int i = 0; i < y.rank; ++i) inverse[rule.permutation[i]] = static_cast<std::int8_t>(i);
        sink.add(x, permute(dy, x->axes_of(), inverse));
        return;
      }
      case step::rename:
        sink.add(x, rename(dy, x->axes_of()));
        return;
      case step::reverse:
        sink.add(x, reverse(dy, rule.axis));
        return;
      case step::broadcast:
        sink.add(x, reduce(reduction::sum, dy, x->axes_of(), (std::uint32_t{1} << rule.axis) - 1,
                           x->type));
        return;
      default: {
        handle input = dy;
        auto how = std::make_unique<placing>();
        how->parts.push_back({rule, y.axes_of()});
        sink.add(
            x, new_operation(x->type, x->axes_of(), x->extents, "view", std::move(how), &input, 1));
        return;
      }
    }
  }
};

handle view_of(handle const& x, axes_view axes, std::int64_t const* extents, char const* who,
               view_rule const& rule) {
  value& from = checked(x);
  if (from.is_number()) return full(from.type, axes, extents, from.floating, from.integer);
  if (!from.evaluated || (from.levels & ~suppressed_levels()) != 0) {
    handle input = x;
    handle result =
        new_operation(from.type, axes, extents, who, std::make_unique<viewing>(rule), &input, 1);
    if (from.evaluated) evaluate(result);
    return result;
  }
  handle result = new_value(from.type, axes);
  set_extents(*result.get(), extents, who);
  rule.look(*result.get(), from);
  result->evaluated = true;
  return result;
}

std::string axis_name(value const& v, int axis) {
  return "axis `" + std::string(v.axes[axis]->view()) + "`";
}

}  // namespace

handle joined_placings(handle const& first, handle const& second) {
  constexpr std::size_t most_parts = 64;
  auto const placing_of = [](handle const& x) -> placing const* {
    return x->evaluated ? nullptr : dynamic_cast<placing const*>(x->how.get());
  };
  placing const* const p = placing_of(first);
  placing const* const q = placing_of(second);
  if (!p || !q || p->parts.size() + q->parts.size() > most_parts) return {};
  // Windows along one axis that do not overlap.
  for (int i = 0; i < first->input_count; ++i)
    for (int k = 0; k < second->input_count; ++k) {
      placing::range const a = p->range_of(*first.get(), i);
      placing::range const b = q->range_of(*second.get(), k);
      bool const is_same_axis = p->parts[static_cast<std::size_t>(i)].rule.axis ==
                                q->parts[static_cast<std::size_t>(k)].rule.axis;
      if (!is_same_axis || a.begin == a.end || b.begin == b.end) return {};
      if (a.begin < b.end && b.begin < a.end) return {};
    }
  auto how = std::make_unique<placing>();
  std::vector<handle> inputs;
  for (value const* v : {first.get(), second.get()})
    for (int i = 0; i < v->input_count; ++i) inputs.push_back(v->inputs[i]);
  for (placing const* from : {p, q})
    how->parts.insert(how->parts.end(), from->parts.begin(), from->parts.end());
  return new_operation(first->type, first->axes_of(), first->extents, "view", std::move(how),
                       inputs.data(), static_cast<int>(inputs.size()));
}

handle permute(handle const& x, axes_view axes, std::int8_t const* permutation) {
  value const& from = checked(x);
  view_rule rule{step::permute};
  std::int64_t extents[max_rank];
  for (int i = 0; i < from.rank; ++i) {
    rule.permutation[i] = permutation[i];
    extents[i] = from.extents[permutation[i]];
  }
  return view_of(x, axes, extents, "permute", rule);
}

handle rename(handle const& x, axes_view axes) {
  value const& from = checked(x);
  for (int i = 0; i < from.rank; ++i)
    if (axes.axes[i]->extent >= 0 && axes.axes[i]->extent != from.extents[i])
      throw shape_error("rename: " + axis_name(from, i) + " has extent " +
                        std::to_string(from.extents[i]) + ", axis `" +
                        std::string(axes.axes[i]->view()) + "` has extent " +
                        std::to_string(axes.axes[i]->extent) + shapes_text(&x, 1));
  return view_of(x, axes, from.extents, "rename", {step::rename});
}

handle at(handle const& x, axes_view axes, int axis, std::int64_t position) {
  value const& from = checked(x);
  if (position < 0 || position >= from.extents[axis])
    throw index_error("at: position " + std::to_string(position) + " is outside " +
                      axis_name(from, axis) + " of extent " + std::to_string(from.extents[axis]) +
                      shapes_text(&x, 1));
  view_rule rule{step::at};
  rule.axis = static_cast<std::int8_t>(axis);
  rule.begin = position;
  std::int64_t extents[max_rank];
  for (int i = 0; i + 1 < from.rank; ++i) extents[i] = from.extents[rule.source(i)];
  return view_of(x, axes, extents, "at", rule);
}

handle slice(handle const& x, axes_view axes, int axis, std::int64_t begin, std::int64_t count,
             std::int64_t stride) {
  value const& from = checked(x);
  std::int64_t const extent = from.extents[axis];
  if (stride < 1)
    throw index_error("slice: the step along " + axis_name(from, axis) + " is " +
                      std::to_string(stride) + "; a step is at least 1 (reverse runs backwards)");
  bool const fits = begin >= 0 && begin <= extent && count >= 0 &&
                    (count == 0 || (begin < extent && count - 1 <= (extent - 1 - begin) / stride));
  if (!fits)
    throw index_error(
        "slice: " + std::to_string(count) + " positions from " + std::to_string(begin) + " on" +
        (stride == 1 ? "" : " with step " + std::to_string(stride)) + " do not lie within " +
        axis_name(from, axis) + " of extent " + std::to_string(extent) + shapes_text(&x, 1));
  if (axes.axes[axis]->extent >= 0 && axes.axes[axis]->extent != count)
    throw shape_error("slice: " + std::to_string(count) + " positions do not fill axis `" +
                      std::string(axes.axes[axis]->view()) + "` of extent " +
                      std::to_string(axes.axes[axis]->extent) + shapes_text(&x, 1));
  view_rule rule{step::slice};
  rule.axis = static_cast<std::int8_t>(axis);
  rule.begin = begin;
  rule.stride = stride;
  std::int64_t extents[max_rank];
  for (int i = 0; i < from.rank; ++i) extents[i] = i == axis ? count : from.extents[i];
  return view_of(x, axes, extents, "slice", rule);
}

handle reverse(handle const& x, int axis) {
  value const& from = checked(x);
  view_rule rule{step::reverse};
  rule.axis = static_cast<std::int8_t>(axis);
  return view_of(x, from.axes_of(), from.extents, "reverse", rule);
}

handle diagonal(handle const& x, axes_view axes, int first, int second) {
  value const& from = checked(x);
  if (from.extents[first] != from.extents[second])
    throw shape_error("diagonal: " + axis_name(from, first) + " has extent " +
                      std::to_string(from.extents[first]) + " and " + axis_name(from, second) +
                      " has extent " + std::to_string(from.extents[second]) + shapes_text(&x, 1));
  axis_info const* const on = axes.axes[first < second ? first : first - 1];
  if (on->extent >= 0 && on->extent != from.extents[first])
    throw shape_error("diagonal: " + axis_name(from, first) + " has extent " +
                      std::to_string(from.extents[first]) + ", axis `" + std::string(on->view()) +
                      "` has extent " + std::to_string(on->extent) + shapes_text(&x, 1));
  view_rule rule{step::diagonal};
  rule.axis = static_cast<std::int8_t>(first);
  rule.second = static_cast<std::int8_t>(second);
  std::int64_t extents[max_rank];
  for (int i = 0; i + 1 < from.rank; ++i) extents[i] = from.extents[rule.source(i)];
  return view_of(x, axes, extents, "diagonal", rule);
}

handle broadcast(handle const& x, axes_view axes, int count, std::int64_t const* new_extents) {
  value const& from = checked(x);
  view_rule rule{step::broadcast};
  rule.axis = static_cast<std::int8_t>(count);
  std::int64_t extents[max_rank];
  for (int i = 0; i < count; ++i) {
    extents[i] = new_extents[i];
    if (axes.axes[i]->extent >= 0 && axes.axes[i]->extent != extents[i])
      throw shape_error("broadcast: axis `" + std::string(axes.axes[i]->view()) + "` has extent " +
                        std::to_string(axes.axes[i]->extent) + " by its type and is given " +
                        std::to_string(extents[i]) + shapes_text(&x, 1));
  }
  for (int i = 0; i < from.rank; ++i) extents[count + i] = from.extents[i];
  return view_of(x, axes, extents, "broadcast", rule);
}

handle broadcast_to(handle const& x, handle const& like) {
  value const& to = *like.get();
  axis_info const* axes[max_rank];
  std::int64_t extents[max_rank];
  std::int8_t permutation[max_rank];
  int fresh = 0;
  for (int i = 0; i < to.rank; ++i) {
    if (find_axis(*x.get(), to.axes[i]) >= 0) continue;
    axes[fresh] = to.axes[i];
    extents[fresh++] = to.extents[i];
  }
  if (x->is_number()) return full(x->type, to.axes_of(), to.extents, x->floating, x->integer);
  for (int i = 0; i < x->rank; ++i) axes[fresh + i] = x->axes[i];
  bool in_order = true;
  for (int i = 0; i < to.rank; ++i) {
    int from = 0;
    while (axes[from] != to.axes[i]) ++from;
    permutation[i] = static_cast<std::int8_t>(from);
    in_order = in_order && from == i;
  }
  if (in_order && fresh == 0) return x;
  handle const wide = broadcast(x, in_order ? to.axes_of() : intern(axes, to.rank), fresh, extents);
  return in_order ? wide : permute(wide, to.axes_of(), permutation);
}

}  // namespace ricci::graph
