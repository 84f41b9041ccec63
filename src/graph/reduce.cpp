#include "kernels/reduce/reduce.hpp"

#include <limits>
#include <string>

#include <ricci/error/exceptions.hpp>

#include "src/graph/compose.hpp"
#include "src/graph/contraction.hpp"
#include "src/graph/gradient.hpp"
#include "src/graph/region.hpp"

namespace ricci::graph {
namespace {

struct reduce_rule final : operation {
  reduce_rule(reduction op, user_reduction const* user, std::uint32_t reduced)
      : op(op),
        reduced(reduced),
        has_user(user != nullptr),
        user(user ? *user : user_reduction{}) {}
  reduction op;
  std::uint32_t reduced;
  bool has_user;
  user_reduction user;

  // An expression that nobody else takes is reduced as it is computed. With a history it must not
  // be needed again: then it is stored, unless the gradient asks for the sum's operands only.
  void evaluate_inputs(value& y) const override {
    handle const& x = y.inputs[0];
    bool const needs_x = op != reduction::sum && op != reduction::mean;
    if (x->is_open() && x->references.load() == 1 && !(y.levels != 0 && needs_x)) return;
    evaluate(x);
  }

  void compute(value& y) const override {
    value& x = *y.inputs[0].get();
    ++count().reductions;
    auto const what = static_cast<kernels::reduction>(op);
    kernels::user_reduction const own{user.identity, user.combine};
    kernels::user_reduction const* const with = has_user ? &own : nullptr;
    region r;
    if (!x.evaluated && !prepare(r, x)) {
      loop_program const loop(r, x);
      kernels::pointwise_output const output{loop.name_of(&x), x.type, nullptr};
      allocate(y);
      kernels::reduce(what, loop.with_outputs(&output, 1), reduced, y.data, y.type, with);
      return;
    }
    allocate(y);
    kernels::reduce(what, {x.data, x.type, x.rank, x.extents, x.strides}, reduced, y.data, y.type,
                    with);
  }
  bool needs_result() const override { return op != reduction::sum && op != reduction::mean; }
  void describe(statement_value& to, statement_contraction&) const override {
    to.kind = value_kind::reduction;
    to.op = static_cast<std::uint8_t>(op);
    to.mask = reduced;
  }

  void vjp(value& self, handle const& dy, gradient_sink& sink) const override {
    handle const& x = self.inputs[0];
    if (!sink.wants(x)) return;
    handle const y = same(self);
    switch (op) {
      case reduction::sum:
        give(x, dy, sink);
        return;
      case reduction::mean: {
        double const terms = self.count == 0 ? 1 : static_cast<double>(x->count / self.count);
        give(x, times(dy, 1 / terms), sink);
        return;
      }
      case reduction::max:
      case reduction::min: {
        // Ties share evenly.
        handle const hit = convert(apply(opcode::equal, x, y), x->type);
        sink.add(x, times(hit, apply(opcode::divide, dy, sum_over(hit))));
        return;
      }
      case reduction::prod:
        sink.add(x, prod_gradient(x, dy));
        return;
      case reduction::logsumexp: {
        // A row of -infinity has the gradient 0, so its logsumexp must not be subtracted.
        handle const low = number_like(y, -std::numeric_limits<double>::infinity());
        handle const finite =
            apply(opcode::where, apply(opcode::equal, y, low), number_like(y, 0), y);
        sink.add(x, times(apply(opcode::exp, minus(x, finite)), dy));
        return;
      }
      case reduction::user:
        throw value_error(
            "reduce: a reduction of your own has no gradient; give one by custom_vjp");
      default:
        return;
    }
  }

 private:
  static void give(handle const& x, handle const& dy, gradient_sink& sink) {
    sink.add(x, broadcast_to(convert(dy, x->type), x));
  }
  handle sum_over(handle const& x) const {
    axis_info const* kept[max_rank];
    int rank = 0;
    for (int i = 0; i < x->rank; ++i)
      if (!(reduced >> i & 1)) kept[rank++] = x->axes[i];
    return reduce(reduction::sum, x, intern(kept, rank), reduced, x->type);
  }
  // The product of all others, also where some are zero.
  handle prod_gradient(handle const& x, handle const& dy) const {
    handle const zero = number_like(x, 0);
    handle const one = number_like(x, 1);
    handle const is_zero = apply(opcode::equal, x, zero);
    handle const zeros = sum_over(convert(is_zero, x->type));
    handle const others = apply(opcode::where, is_zero, one, x);
    axis_info const* kept[max_rank];
    int rank = 0;
    for (int i = 0; i < x->rank; ++i)
      if (!(reduced >> i & 1)) kept[rank++] = x->axes[i];
    handle const product = reduce(reduction::prod, others, intern(kept, rank), reduced, x->type);
    handle const if_one = apply(opcode::where, apply(opcode::equal, zeros, one), product, zero);
    handle const if_none = apply(opcode::where, apply(opcode::equal, zeros, zero), product, zero);
    return apply(opcode::where, is_zero, times(if_one, dy),
                 apply(opcode::divide, times(if_none, dy), others));
  }
};

handle reduced_value(reduction op, user_reduction const* user, handle const& x, axes_view axes,
                     std::uint32_t reduced, dtype result) {
  value const& v = checked(x);
  std::int64_t extents[max_rank];
  int rank = 0;
  for (int i = 0; i < v.rank; ++i) {
    if (!(reduced >> i & 1)) {
      extents[rank++] = v.extents[i];
      continue;
    }
    bool const has_start = op != reduction::max && op != reduction::min &&
                           op != reduction::argmax && op != reduction::argmin;
    if (v.extents[i] == 0 && v.count == 0 && !has_start)
      throw shape_error("reduce: max, min, argmax and argmin of no elements: axis `" +
                        std::string(v.axes[i]->view()) + "` has extent 0" + shapes_text(&x, 1));
  }
  handle input = x;
  return new_operation(result, axes, extents, "reduce",
                       std::make_unique<reduce_rule>(op, user, reduced), &input, 1);
}

// x by index, one axis each: a view wherever x is one.
handle by_index(handle const& x, pattern_group const& group, pattern_spec const& spec,
                std::int64_t const* extents, std::int8_t* ids, int& rank) {
  auto rule = std::make_unique<contraction_rule>();
  rule->indices = static_cast<std::int8_t>(spec.indices);
  rule->may_be_view = true;
  rule->group[0] = group;
  for (int id = 0; id < spec.indices; ++id) rule->extent[id] = extents[id];
  axis_info const* axes[max_indices];
  rank = 0;
  std::uint32_t seen = 0;
  for (int i = 0; i < group.size(); ++i) {
    if (seen >> group.ids[i] & 1) continue;
    seen |= std::uint32_t{1} << group.ids[i];
    if (rank == max_rank)
      throw value_error("reduce: an operand of more than 24 indices; reduce some of them first");
    ids[rank] = group.ids[i];
    axes[rank] = unnamed_axis(group.ids[i]);
    rule->result.ids[rank++] = group.ids[i];
    rule->result.begin[rank] = static_cast<std::int8_t>(rank);
  }
  rule->result.rank = static_cast<std::int8_t>(rank);
  handle in = x;
  return new_contraction(spec.who, intern(axes, rank), std::move(rule), &in);
}

}  // namespace

handle reduce(reduction op, handle const& x, axes_view axes, std::uint32_t reduced, dtype result) {
  return reduced_value(op, nullptr, x, axes, reduced, result);
}

handle reduce(reduction op, user_reduction const* user, pattern_spec const& spec, axes_view axes,
              handle const& x, std::int64_t const* given, dtype result) {
  pattern_group groups[2];
  read_groups(spec, groups);
  std::int64_t extents[max_indices];
  checked(x);
  resolve_extents(spec, groups, axes, &x, given, extents);
  std::int8_t ids[max_indices];
  int rank = x->rank;
  handle by_ids = x;
  if (groups[0].is_plain())
    for (int i = 0; i < rank; ++i) ids[i] = groups[0].ids[i];
  else
    by_ids = by_index(x, groups[0], spec, extents, ids, rank);
  std::uint32_t const kept = groups[1].mask();
  std::uint32_t reduced = 0;
  axis_info const* kept_axes[max_rank];
  pattern_group kept_group;
  for (int i = 0; i < rank; ++i) {
    if (!(kept >> ids[i] & 1)) {
      reduced |= std::uint32_t{1} << i;
      continue;
    }
    kept_axes[kept_group.rank] = by_ids->axes[i];
    kept_group.ids[kept_group.rank++] = ids[i];
    kept_group.begin[kept_group.rank] = kept_group.rank;
  }
  bool in_place = groups[1].is_plain() && groups[1].rank == kept_group.rank;
  for (int i = 0; in_place && i < kept_group.rank; ++i)
    in_place = groups[1].ids[i] == kept_group.ids[i];
  // The rules of differentiation find axes by name, so the kept ones keep theirs until the end.
  bool same_names = in_place;
  for (int i = 0; same_names && i < kept_group.rank; ++i) same_names = axes.axes[i] == kept_axes[i];
  axes_view const between = same_names ? axes : intern(kept_axes, kept_group.rank);
  handle y = reduced_value(op, user, by_ids, between, reduced, result);
  if (same_names) return y;
  if (in_place) return rename(y, axes);
  auto rule = std::make_unique<contraction_rule>();
  rule->indices = static_cast<std::int8_t>(spec.indices);
  rule->may_be_view = true;
  rule->group[0] = kept_group;
  rule->result = groups[1];
  for (int id = 0; id < spec.indices; ++id) rule->extent[id] = extents[id];
  return new_contraction(spec.who, axes, std::move(rule), &y);
}

}  // namespace ricci::graph
