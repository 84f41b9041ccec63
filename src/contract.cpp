#include <ricci/exec/contract.hpp>

#include <string>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/storage.hpp>

#include "src/contract_choice.hpp"
#include "src/contract_gemm.hpp"
#include "src/contract_terms.hpp"

namespace ricci::exec {
namespace {

using kernels::contraction_axis;
using kernels::contraction_problem;

void check_types(dtype a, dtype b, dtype result) {
  if (a != b)
    throw value_error("contract: the operands have elements of " + std::string(name_of(a)) +
                      " and " + std::string(name_of(b)) + "; convert one with `to<>`.");
  bool const fits = a == dtype::f64  ? result == dtype::f64
                    : is_floating(a) ? result == a || result == dtype::f32
                                     : !is_floating(result);
  if (!fits)
    throw value_error("contract: " + std::string(name_of(a)) + " does not contract to " +
                      std::string(name_of(result)) +
                      "; a result has the operands' dtype, f32 of narrower floats, or an integer "
                      "dtype of integers.");
}

// Every index is an axis of its own, in the order of its role.
void run_unplanned(contraction_terms const& terms, contraction_problem problem) {
  contraction_axis axes[4][max_indices];
  int counts[4] = {};
  std::uint32_t const ids[4] = {terms.in_a & terms.in_b, terms.in_a & ~terms.in_b,
                                terms.in_b & ~terms.in_a, 0};
  for (int i = 0; i < terms.result_rank; ++i)
    for (int role = 0; role < 3; ++role)
      if (ids[role] >> terms.result[i] & 1) axes[role][counts[role]++] = terms.of[terms.result[i]];
  std::uint32_t const rest = (terms.in_a | terms.in_b) & ~terms.in_result;
  for (int i = 0; i < terms.a_rank; ++i)
    if (rest >> terms.a_ids[i] & 1) axes[3][counts[3]++] = terms.of[terms.a_ids[i]];
  for (int i = 0; i < terms.b_rank; ++i)
    if ((rest & ~terms.in_a) >> terms.b_ids[i] & 1) axes[3][counts[3]++] = terms.of[terms.b_ids[i]];
  problem.batch = axes[0];
  problem.m = axes[1];
  problem.n = axes[2];
  problem.k = axes[3];
  problem.batches = counts[0];
  problem.ms = counts[1];
  problem.ns = counts[2];
  problem.ks = counts[3];
  kernels::contract(problem);
}

contraction_problem problem_of(void const* a, dtype a_type, void const* b, dtype b_type,
                               contraction_result const& result,
                               contraction_epilogue const& epilogue) {
  contraction_problem problem;
  problem.a = a;
  problem.b = b;
  problem.c = result.data;
  problem.a_type = a_type;
  problem.b_type = b_type;
  problem.c_type = result.type;
  problem.alpha = epilogue.alpha;
  problem.bias = {epilogue.bias.data, epilogue.bias.type};
  problem.residual = {epilogue.residual.data, epilogue.residual.type};
  problem.activation = epilogue.activation;
  return problem;
}

}  // namespace

contraction_report contract(contraction_operand const& a, contraction_operand const& b,
                            contraction_result const& result, contraction_epilogue const& epilogue,
                            lowering_code forced) {
  check_types(a.type, b.type, result.type);
  contraction_terms const terms = read_terms(a, &b, result, epilogue);
  contraction_report report;
  if (terms.result_count == 0) return report;
  contraction_problem const problem = problem_of(a.data, a.type, b.data, b.type, result, epilogue);
  bool const is_small = terms.operations <= least_planned && forced == lowering_code::automatic;
  if (is_small || terms.has_empty_sum) {
    report.loops = 1;
    run_unplanned(terms, problem);
    return report;
  }
  contraction_request const request =
      request_of(terms, a.type, result.type, problem.has_epilogue(), forced);
  run_planned(chosen_lowering(request).plan, terms, problem, report);
  return report;
}

contraction_report contract(contraction_operand const& a, contraction_result const& result,
                            contraction_epilogue const& epilogue) {
  check_types(a.type, a.type, result.type);
  contraction_terms const terms = read_terms(a, nullptr, result, epilogue);
  contraction_report report;
  if (terms.result_count == 0) return report;
  report.loops = 1;
  run_single(terms,
             problem_of(a.data, a.type, one_of(a.type), accumulator_of(a.type), result, epilogue));
  return report;
}

}  // namespace ricci::exec
