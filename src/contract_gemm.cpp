#include "src/contract_gemm.hpp"

#include <algorithm>

#include <ricci/plan/candidates.hpp>
#include <ricci/tensor/storage.hpp>

#include "kernels/copy/copy.hpp"
#include "src/gemm.hpp"

namespace ricci::exec {
namespace {

using kernels::contraction_axis;
using kernels::contraction_problem;

// Operand or result while a plan is carried out: left is called a, right b, in every axis.
struct planned_array {
  void const* data = nullptr;
  dtype type = dtype::f32;
  storage_handle memory;  // of a temporary
};

struct carried_plan {
  contraction_plan plan;
  contraction_axis index[max_indices];  // of plan.indices, a is left and b is right
  planned_array left, right;
  void* result = nullptr;
  dtype result_type = dtype::f32;
};

constexpr index_role left_roles[] = {index_role::batch, index_role::m, index_role::k};
constexpr index_role right_roles[] = {index_role::batch, index_role::k, index_role::n};

// A group is one axis: the strides of its last index, the product of the extents.
contraction_axis axis_of(carried_plan const& c, index_group const& group) {
  contraction_axis axis = c.index[group.last];
  for (int i = group.first; i < group.last; ++i) axis.extent *= c.index[i].extent;
  return axis;
}

// Is the added array one axis too wherever the indices of a group are?
bool merges(carried_plan const& c, std::int64_t contraction_axis::* stride) {
  for (int g = 0; g < c.plan.group_count; ++g)
    for (int i = c.plan.groups[g].first; i < c.plan.groups[g].last; ++i)
      if (c.index[i].*stride != c.index[i + 1].extent * c.index[i + 1].*stride) return false;
  return true;
}

// c = a, by the strides of the axes.
void copy_axes(std::int64_t element_size, contraction_axis const* axes, int count, void const* a,
               void* c) {
  std::int64_t extents[max_indices];
  std::int64_t from[max_indices];
  std::int64_t to[max_indices];
  for (int i = 0; i < count; ++i) {
    extents[i] = axes[i].extent;
    from[i] = axes[i].a;
    to[i] = axes[i].c;
  }
  kernels::copy(element_size, count, extents, c, to, a, from);
}

// Copies one operand to new storage of another dtype: axes in the order given, others summed.
void copy_operand(carried_plan& c, planned_array& array, std::int64_t contraction_axis::* stride,
                  int const* kept, int kept_count, int const* summed, int summed_count, dtype to,
                  contraction_report& report) {
  contraction_axis axes[max_indices];
  contraction_axis sums[max_indices];
  std::int64_t count = 1;
  for (int i = kept_count - 1; i >= 0; --i) {
    contraction_axis const& from = c.index[kept[i]];
    axes[i].extent = from.extent;
    axes[i].a = from.*stride;
    axes[i].c = count;
    count *= from.extent;
  }
  for (int i = 0; i < summed_count; ++i) {
    sums[i].extent = c.index[summed[i]].extent;
    sums[i].a = c.index[summed[i]].*stride;
  }
  storage_handle memory = allocate(checked_bytes(count, to), role::workspace);
  if (summed_count == 0 && to == array.type) {
    copy_axes(size_of(to), axes, kept_count, array.data, memory.data());
  } else {
    contraction_problem sum;
    sum.a = array.data;
    sum.a_type = array.type;
    sum.b = one_of(array.type);
    sum.b_type = accumulator_of(array.type);
    sum.c = memory.data();
    sum.c_type = to;
    sum.m = axes;
    sum.ms = kept_count;
    sum.k = sums;
    sum.ks = summed_count;
    kernels::contract(sum);
  }
  for (int i = 0; i < kept_count; ++i) c.index[kept[i]].*stride = axes[i].c;
  for (int i = 0; i < summed_count; ++i) c.index[summed[i]].*stride = 0;
  array.memory = memory;
  array.data = memory.data();
  array.type = to;
  report.packs += 1;
  report.temporary_bytes += memory.bytes();
}

// To the order of the plan, summed indices summed.
void pack(carried_plan& c, bool is_left, dtype to, contraction_report& report) {
  int kept[max_indices];
  int summed[max_indices];
  int kept_count = 0;
  int summed_count = 0;
  for (index_role const role : is_left ? left_roles : right_roles)
    for (int i = 0; i < c.plan.index_count; ++i)
      if (c.plan.indices[i].role == role) kept[kept_count++] = i;
  for (int i = 0; i < c.plan.index_count; ++i) {
    planned_index const& index = c.plan.indices[i];
    if (index.role == index_role::summed && (is_left ? index.left : index.right) >= 0)
      summed[summed_count++] = i;
  }
  copy_operand(c, is_left ? c.left : c.right, is_left ? &contraction_axis::a : &contraction_axis::b,
               kept, kept_count, summed, summed_count, to, report);
}

// c = epilogue(source), source lying as the plan's result does.
void finish(carried_plan const& c, void const* source, dtype source_type,
            std::int64_t const* source_strides, contraction_problem const& problem) {
  contraction_axis axes[max_indices];
  int count = 0;
  for (int i = 0; i < c.plan.index_count; ++i) {
    if (c.plan.indices[i].result < 0) continue;
    contraction_axis axis = c.index[i];
    axis.a = source_strides[i];
    axis.b = 0;
    int place = count++;
    for (; place > 0 && axes[place - 1].c < axis.c; --place) axes[place] = axes[place - 1];
    axes[place] = axis;
  }
  // Neighbours that are one axis in all arrays become one, so that rows are long.
  int merged = 0;
  for (int i = 1; i < count; ++i) {
    contraction_axis const& p = axes[merged];
    contraction_axis const& q = axes[i];
    bool const joins = p.a == q.extent * q.a && p.c == q.extent * q.c &&
                       p.bias == q.extent * q.bias && p.residual == q.extent * q.residual;
    std::int64_t const extent = joins ? p.extent * q.extent : q.extent;
    if (!joins) ++merged;
    axes[merged] = axes[i];
    axes[merged].extent = extent;
  }
  bool const is_plain = problem.alpha == 1 && problem.bias.data == nullptr &&
                        problem.residual.data == nullptr && problem.activation == opcode::convert;
  if (is_plain && source_type == problem.c_type)
    return copy_axes(size_of(source_type), axes, count > 0 ? merged + 1 : 0, source, problem.c);
  contraction_problem last = problem;
  last.a = source;
  last.a_type = source_type;
  last.b = one_of(source_type);
  last.b_type = accumulator_of(source_type);
  last.m = axes;
  last.ms = count > 0 ? merged + 1 : 0;
  kernels::contract(last);
}

void run_loops(carried_plan const& c, contraction_problem problem, contraction_report& report) {
  contraction_axis axes[4][max_indices];
  int counts[4] = {};
  auto const add = [&](contraction_axis const& axis, index_role role) {
    int const which = static_cast<int>(role);
    axes[which][counts[which]++] = axis;
  };
  // A plan with a product beside the result merges as that lies.
  bool const is_merged = merges(c, &contraction_axis::c) && merges(c, &contraction_axis::bias) &&
                         merges(c, &contraction_axis::residual);
  if (is_merged)
    for (int g = 0; g < c.plan.group_count; ++g)
      add(axis_of(c, c.plan.groups[g]), c.plan.groups[g].role);
  else
    for (int i = 0; i < c.plan.index_count; ++i)
      if (c.plan.indices[i].role != index_role::summed) add(c.index[i], c.plan.indices[i].role);
  problem.a = c.left.data;
  problem.b = c.right.data;
  problem.a_type = c.left.type;
  problem.b_type = c.right.type;
  problem.batch = axes[0];
  problem.m = axes[1];
  problem.n = axes[2];
  problem.k = axes[3];
  problem.batches = counts[0];
  problem.ms = counts[1];
  problem.ns = counts[2];
  problem.ks = counts[3];
  report.loops = 1;
  kernels::contract(problem);
}

// Does the library take the two axes of an operand? Rows must not overlap.
bool is_matrix(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
  if (column == 1 && row >= columns) return true;
  return row == 1 && column >= rows;
}

gemm_problem gemm_of(carried_plan const& c, contraction_axis* batch) {
  gemm_problem g;
  contraction_plan const& plan = c.plan;
  for (int i = 0; i < plan.group_count; ++i) {
    contraction_axis const axis = axis_of(c, plan.groups[i]);
    if (i == plan.m)
      g.m = axis;
    else if (i == plan.n)
      g.n = axis;
    else if (i == plan.k)
      g.k = axis;
    else
      batch[g.batches++] = axis;
  }
  g.batch = batch;
  // Axes of extent 1 lie as a dense matrix would.
  if (plan.m < 0) {
    g.m.a = g.k.a == 1 ? g.k.extent : 1;
    g.m.c = g.n.extent;
  }
  if (plan.n < 0) {
    g.n.b = g.k.b == 1 ? g.k.extent : 1;
    g.n.c = 1;
  }
  return g;
}

carried_plan carry(contraction_plan const& plan, contraction_terms const& terms,
                   contraction_problem const& problem) {
  carried_plan c;
  c.plan = plan;
  c.left = {problem.a, problem.a_type, {}};
  c.right = {problem.b, problem.b_type, {}};
  if (c.plan.swapped) std::swap(c.left, c.right);
  for (int i = 0; i < c.plan.index_count; ++i) {
    c.index[i] = terms.of[c.plan.indices[i].id];
    if (c.plan.swapped) std::swap(c.index[i].a, c.index[i].b);
  }
  return c;
}

// Strides that no layout of the language has, rows that overlap say, are not for the library.
bool is_fit(carried_plan const& c, gemm_problem const& g) {
  return (c.plan.pack_left || is_matrix(g.m.a, g.m.extent, g.k.a, g.k.extent)) &&
         (c.plan.pack_right || is_matrix(g.k.b, g.k.extent, g.n.b, g.n.extent));
}

}  // namespace

void run_planned(contraction_plan const& plan, contraction_terms const& terms,
                 contraction_problem const& problem, contraction_report& report) {
  carried_plan c = carry(plan, terms, problem);
  contraction_axis batch[max_indices];
  if (plan.gemms() > 0 && !is_fit(c, gemm_of(c, batch)))
    c = carry(plan_contraction(planned_tensor(terms, true), planned_tensor(terms, false),
                               terms.result, terms.result_rank, {.only_loops = true}),
              terms, problem);
  report.lowering = code_of(c.plan);
  dtype const type = problem.a_type;
  if (c.plan.gemms() == 0) {
    dtype const wide = accumulator_of(type);
    if (c.plan.pack_left) pack(c, true, wide, report);
    if (c.plan.pack_right) pack(c, false, wide, report);
    return run_loops(c, problem, report);
  }
  if (c.plan.pack_left) pack(c, true, type, report);
  if (c.plan.pack_right) pack(c, false, type, report);

  // Where the result is not what the library writes, it writes f32 beside it.
  std::int64_t lies[max_indices] = {};
  std::int64_t stride = 1;
  for (int i = c.plan.index_count - 1; i >= 0; --i) {
    if (c.plan.indices[i].result < 0) continue;
    lies[i] = c.plan.copy_result ? stride : c.index[i].c;
    stride *= c.index[i].extent;
  }
  bool const is_direct =
      !c.plan.copy_result && (problem.c_type == dtype::f32 || problem.c_type == type);
  bool const has_epilogue = problem.has_epilogue();
  bool const may_fuse =
      is_direct && (problem.bias.data == nullptr || merges(c, &contraction_axis::bias)) &&
      (problem.residual.data == nullptr || merges(c, &contraction_axis::residual));
  carried_plan written = c;
  for (int i = 0; i < c.plan.index_count; ++i)
    if (c.plan.indices[i].result >= 0) written.index[i].c = lies[i];
  gemm_problem g = gemm_of(written, batch);
  g.a = c.left.data;
  g.b = c.right.data;
  g.in = type;
  report.gemms = 1;
  report.m = g.m.extent;
  report.n = g.n.extent;
  report.k = g.k.extent;
  report.batch = 1;
  for (int i = 0; i < g.batches; ++i) report.batch *= batch[i].extent;

  gemm_outcome outcome = gemm_outcome::unsupported;
  bool const in_place = is_direct && problem.c_type == dtype::f32;
  if (is_direct && (may_fuse || in_place || !has_epilogue)) {
    gemm_problem whole = g;
    whole.c = problem.c;
    whole.out = problem.c_type;
    if (may_fuse) {
      whole.alpha = problem.alpha;
      whole.bias = problem.bias;
      whole.residual = problem.residual;
      whole.activation = problem.activation;
    }
    outcome = gemm(whole, in_place);
    if (outcome == gemm_outcome::done && !may_fuse && has_epilogue) outcome = gemm_outcome::plain;
    if (outcome == gemm_outcome::done) return;
    if (outcome == gemm_outcome::plain) {
      report.is_fused = false;
      return finish(c, problem.c, problem.c_type, lies, problem);
    }
  }
  // Without an epilogue the library's own rounding is the only one.
  dtype const beside = !has_epilogue && problem.c_type == type ? type : dtype::f32;
  storage_handle const memory =
      allocate(checked_bytes(terms.result_count, beside), role::workspace);
  g.c = memory.data();
  g.out = beside;
  if (gemm(g, false) != gemm_outcome::unsupported) {
    report.is_fused = !has_epilogue;
    report.packs += 1;
    report.temporary_bytes += memory.bytes();
    return finish(c, memory.data(), beside, lies, problem);
  }
  report.gemms = 0;
  report.lowering = lowering_code::loops;
  run_loops(c, problem, report);
}

void run_single(contraction_terms const& terms, contraction_problem problem) {
  contraction_plan const plan =
      plan_contraction(planned_tensor(terms, true), terms.result, terms.result_rank);
  carried_plan c;
  c.plan = plan;
  c.left = {problem.a, problem.a_type, {}};
  c.right = {problem.b, problem.b_type, {}};
  for (int i = 0; i < plan.index_count; ++i) c.index[i] = terms.of[plan.indices[i].id];
  contraction_report report;
  run_loops(c, problem, report);
}

}  // namespace ricci::exec
