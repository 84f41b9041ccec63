#include "kernels/attention/attention.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <ricci/error/exceptions.hpp>

#include "src/graph/contraction.hpp"
#include "src/graph/rows.hpp"

namespace ricci::graph {
namespace {

// The batch axes of [b..., seq, head_dim] as the kernel's two; it reads head_dim with stride 1.
struct attention_view {
  handle copy;
  void* data;
  std::int64_t batch = 1, heads = 1;
  std::int64_t batch_stride = 0, head_stride = 0, seq_stride;

  explicit attention_view(handle const& x) {
    if (!take(*x.get())) {
      copy = copied(x);
      take(*copy.get());
    }
  }
  operator kernels::attention_input() const {
    return {data, batch_stride, head_stride, seq_stride};
  }
  operator kernels::attention_output() const {
    return {data, batch_stride, head_stride, seq_stride};
  }

 private:
  bool take(value const& v) {
    int const last = v.rank - 3;  // of the batch axes
    if (v.extents[v.rank - 1] > 1 && v.strides[v.rank - 1] != 1) return false;
    data = v.data;
    seq_stride = v.strides[v.rank - 2];
    if (last >= 0) {
      heads = v.extents[last];
      head_stride = v.strides[last];
    }
    batch = 1;
    if (last >= 1) batch_stride = v.strides[last - 1];
    for (int i = last - 1; i >= 0; --i) {
      if (i < last - 1 && v.strides[i] != v.extents[i + 1] * v.strides[i + 1]) return false;
      batch *= v.extents[i];
    }
    return true;
  }
};

// New storage for y, its axes in memory in the order in which they lie in x: heads that are a view
// of one packed axis become one again without a copy.
void allocate_like(value& y, value const& x) {
  bool const is_ordered = x.order.ordered == x.rank && x.order.axis_at(x.rank - 1) == x.rank - 1;
  allocate(y);
  if (!is_ordered) return;
  std::int8_t place[max_rank];
  std::int64_t stride = 1;
  for (int i = x.rank - 1; i >= 0; --i) {
    int const axis = x.order.axis_at(i);
    place[axis] = static_cast<std::int8_t>(i);
    y.strides[axis] = stride;
    stride *= y.extents[axis];
  }
  y.order = permuted(layout::packed(x.rank), place);
}

struct attention_rule final : operation {
  attention_rule(double scale, bool causal) : scale(scale), causal(causal) {}
  double scale;
  bool causal;
  mutable storage_handle lse;  // kept for the gradient, one number a query

  kernels::attention_problem problem(value const& y, attention_view const& q) const {
    value const& k = *y.inputs[1].get();
    return {y.type,
            q.batch,
            q.heads,
            y.extents[y.rank - 2],
            k.extents[k.rank - 2],
            y.extents[y.rank - 1],
            scale,
            causal};
  }

  void compute(value& y) const override {
    attention_view const q(y.inputs[0]);
    attention_view const k(y.inputs[1]);
    attention_view const v(y.inputs[2]);
    allocate_like(y, *y.inputs[0].get());
    attention_view const out(same(y));
    kernels::attention_problem const p = problem(y, q);
    lse = ricci::allocate(p.batch * p.heads * p.seq_q * size_of(statistics_dtype(y.type)));
    kernels::attention(p, q, k, v, out, lse.data());
    if (y.levels == 0) lse = {};
    ++count().kernels;
  }
  void describe(statement_value& to, statement_contraction&) const override {
    to.kind = value_kind::attention;
  }

  void vjp(value& y, handle const& dy, gradient_sink& sink) const override {
    if (is_recorded(y.inputs[0], y.inputs[1], y.inputs[2], dy)) {
      composed(y, dy, sink);
      return;
    }
    evaluate(dy);
    attention_view const q(y.inputs[0]);
    attention_view const k(y.inputs[1]);
    attention_view const v(y.inputs[2]);
    attention_view const out(same(y));
    attention_view const slope(dy);
    handle gradient[3];
    for (int i = 0; i < 3; ++i) {
      value const& x = *y.inputs[i].get();
      gradient[i] = new_value(x.type, x.axes_of());
      set_extents(*gradient[i].get(), x.extents, "gradient");
      allocate_like(*gradient[i].get(), x);
      gradient[i]->evaluated = true;
    }
    attention_view const dq(gradient[0]);
    attention_view const dk(gradient[1]);
    attention_view const dv(gradient[2]);
    kernels::attention_backward(problem(y, q), q, k, v, out, slope, lse.data(), dq, dk, dv);
    ++count().kernels;
    for (int i = 0; i < 3; ++i) sink.add(y.inputs[i], gradient[i]);
  }

  // --- the same in the language, so that it has gradients itself -------------------------------
  // Indices: the batch axes, then query, key and head_dim.
  static pattern_group group(int batch, int first, int second) {
    pattern_group g;
    for (int i = 0; i < batch; ++i) g.ids[g.rank++] = static_cast<std::int8_t>(i);
    g.ids[g.rank++] = static_cast<std::int8_t>(batch + first);
    g.ids[g.rank++] = static_cast<std::int8_t>(batch + second);
    for (int i = 0; i <= g.rank; ++i) g.begin[i] = static_cast<std::int8_t>(i);
    return g;
  }
  struct indices {
    int batch;
    std::int64_t extent[max_indices];
  };
  static handle product(indices const& all, handle const& a, pattern_group const& a_group,
                        handle const& b, pattern_group const& b_group, axes_view axes,
                        pattern_group const& result) {
    auto rule = std::make_unique<contraction_rule>();
    rule->operands = 2;
    rule->indices = static_cast<std::int8_t>(all.batch + 3);
    for (int i = 0; i < rule->indices; ++i) rule->extent[i] = all.extent[i];
    rule->group[0] = a_group;
    rule->group[1] = b_group;
    rule->result = result;
    handle in[] = {a, b};
    return new_contraction("attention", axes, std::move(rule), in);
  }

  void composed(value& y, handle const& dy, gradient_sink& sink) const {
    handle const& q = y.inputs[0];
    handle const& k = y.inputs[1];
    handle const& v = y.inputs[2];
    int const batch = y.rank - 2;
    indices all{batch, {}};
    axis_info const* axes[max_rank];
    for (int i = 0; i <= batch; ++i) {
      all.extent[i] = y.extents[i];
      axes[i] = y.axes[i];
    }
    axes[batch + 1] = unnamed_axis(0);
    all.extent[batch + 1] = k->extents[batch];
    all.extent[batch + 2] = y.extents[batch + 1];
    axes_view const score_axes = intern(axes, batch + 2);
    pattern_group const queries = group(batch, 0, 2);
    pattern_group const keys = group(batch, 1, 2);
    pattern_group const pairs = group(batch, 0, 1);
    handle scores = times(product(all, q, queries, k, keys, score_axes, pairs), scale);
    if (causal) {
      handle const row = iota(dtype::i64, score_axes, scores->extents, batch);
      handle const column = iota(dtype::i64, score_axes, scores->extents, batch + 1);
      std::int64_t const ahead = all.extent[batch + 1] - all.extent[batch];
      handle const seen =
          apply(opcode::less_equal, column, plus(row, constant(dtype::i64, 0, ahead)));
      scores = apply(opcode::where, seen, scores,
                     number_like(scores, -std::numeric_limits<double>::infinity()));
    }
    handle const p = softmax(scores, batch + 1);
    if (sink.wants(v)) sink.add(v, product(all, p, pairs, dy, queries, v->axes_of(), keys));
    if (!sink.wants(q) && !sink.wants(k)) return;
    handle const dp = product(all, dy, queries, v, keys, score_axes, pairs);
    handle const ds = times(times(p, minus(dp, sum_along(times(p, dp), batch + 1))), scale);
    if (sink.wants(q)) sink.add(q, product(all, ds, pairs, k, keys, q->axes_of(), queries));
    if (sink.wants(k)) sink.add(k, product(all, ds, pairs, q, queries, k->axes_of(), keys));
  }
};

void check(handle const& q, handle const& x, int number, handle const* operands) {
  value const& a = *q.get();
  value const& b = *x.get();
  for (int i = 0; i < a.rank; ++i) {
    if (i == a.rank - 2 || a.extents[i] == b.extents[i]) continue;
    throw shape_error("attention: axis `" + std::string(a.axes[i]->view()) + "` has extent " +
                      std::to_string(a.extents[i]) + " in operand 1 and " +
                      std::to_string(b.extents[i]) + " in operand " + std::to_string(number) +
                      shapes_text(operands, 3));
  }
}

}  // namespace

handle attention(handle const& q, handle const& k, handle const& v, double scale, bool causal) {
  value const& x = checked(q);
  handle const operands[] = {q, k, v};
  if (x.rank < 2 || checked(k).rank != x.rank || checked(v).rank != x.rank)
    throw shape_error("attention: the operands are [batch..., query or key, head_dim]" +
                      shapes_text(operands, 3));
  check(q, k, 2, operands);
  check(q, v, 3, operands);
  int const keys = x.rank - 2;
  if (k->extents[keys] != v->extents[keys])
    throw shape_error("attention: axis `" + std::string(k->axes[keys]->view()) + "` has extent " +
                      std::to_string(k->extents[keys]) + " in operand 2 and " +
                      std::to_string(v->extents[keys]) + " in operand 3" +
                      shapes_text(operands, 3));
  double const width = static_cast<double>(x.extents[x.rank - 1]);
  if (scale == 0) scale = width > 0 ? 1 / std::sqrt(width) : 1;
  dtype const type = kernel_dtype(x.type);
  handle inputs[] = {convert(q, type), convert(k, type), convert(v, type)};
  return convert(new_operation(type, x.axes_of(), x.extents, "attention",
                               std::make_unique<attention_rule>(scale, causal), inputs, 3),
                 x.type);
}

}  // namespace ricci::graph
