#pragma once

#include <string>
#include <vector>

#include <ricci/plan/planner.hpp>
#include <ricci/tensor/graph.hpp>

/// Private to src/plan: a planned statement of the graph, and how its parts are called.
namespace ricci::detail {

/// The arrays of a statement, of any size.
struct statement_arrays {
  std::vector<statement_value> values;
  std::vector<int> inputs;
  std::vector<std::int64_t> extents;
  std::vector<statement_contraction> contractions;
  std::vector<statement_storage> storages;
  statement s;
};

/// What is still to be computed below x, as plain data; nothing is evaluated.
///   @post  to.s points into `to`, which must not move any more
void read_graph(graph::handle const& x, statement_arrays& to);

/// A statement with its plan.
struct explained {
  statement_arrays arrays;
  std::vector<plan_step> steps;
  std::vector<int> lists;
  std::vector<contraction_request> requests;  // of each step
  std::vector<contraction_plan> plans;
  std::vector<layout> orders;  // of each value, once it is evaluated
  plan_totals totals;

  explicit explained(graph::handle const& x);
  explained(explained const&) = delete;

  statement const& s() const { return arrays.s; }
  statement_value const& value(int id) const { return arrays.values[static_cast<std::size_t>(id)]; }
  /// The step that computed a value, from 1 on; 0 for a leaf.
  int step_of(int value) const;
  int const* reads(plan_step const& step) const { return lists.data() + step.first_read; }
  int const* nodes(plan_step const& step) const { return lists.data() + step.first_node; }
};

// --- names ---------------------------------------------------------------------------------------
std::string axis_name(explained const& e, int value, int axis);
/// The indices of a contraction by the axes that they index.
std::vector<std::string> index_names(explained const& e, int contraction);
/// `batch seq hidden`
std::string axes_text(explained const& e, int value);
/// `[batch seq hidden]`, or `#1 [batch seq hidden]` of what step 1 computed.
std::string value_text(explained const& e, int value);
/// `[batch 8, seq 128, hidden 768]`
std::string shape_text(explained const& e, int value);
/// The operations of a fused loop or an epilogue: `+ [mlp], gelu`.
std::string fused_text(explained const& e, plan_step const& step);
/// What a step does, in the words of its kind.
std::string step_text(explained const& e, plan_step const& step);
/// `gemm`, `loop`, `copy`: of softmax and such its own name.
std::string kind_text(explained const& e, plan_step const& step);
/// Who runs it: `oneDNN`, or one of kernels/; empty for views.
std::string backend_text(explained const& e, plan_step const& step);
/// 4.83 G, 12.6 M: three digits.
std::string short_number(std::int64_t number);

// --- the four forms ------------------------------------------------------------------------------
std::string explained_text(explained const& e);
std::string explained_json(explained const& e);
std::string explained_drawing(explained const& e);

}  // namespace ricci::detail
