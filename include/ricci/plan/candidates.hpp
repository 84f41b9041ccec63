#pragma once

#include <cstdint>

#include <ricci/plan/contraction.hpp>
#include <ricci/plan/cost_model.hpp>
#include <ricci/plan/lowering.hpp>
#include <ricci/tensor/dtype.hpp>

namespace ricci {

/// Assumed, while compiling, of an axis whose extent is known at run time only.
inline constexpr std::int64_t nominal_extent = 512;

/// Up to this many products nothing beats the plain loops, and no plan is worth its time.
inline constexpr double least_planned = 32 * 32 * 32;

struct contraction_candidate {
  lowering_code code = lowering_code::automatic;
  contraction_plan plan;
  double seconds = 0;  // predicted; only their ratios mean something
};

struct candidate_list {
  int count = 0;
  int chosen = 0;
  contraction_candidate at[9];

  constexpr contraction_candidate const& best() const { return at[chosen]; }
};

constexpr lowering_code code_of(contraction_plan const& plan) {
  if (plan.gemms() == 0) return lowering_code::loops;
  return gemm_lowering(plan.swapped ? plan.pack_right : plan.pack_left,
                       plan.swapped ? plan.pack_left : plan.pack_right, plan.copy_result);
}

/// The ways to lower a contraction, and the one that is chosen.
///   @post  count >= 1 unless the contraction is invalid; codes are all different; every plan keeps
///          plan_contraction's postconditions; `forced` is chosen if it is among them, else
///          the least of seconds, or a product without copies within a quarter of it
constexpr candidate_list candidates_of(contraction_request const& r) {
  candidate_list list;
  auto const is_vector = [&](contraction_plan const& plan, int group) {
    if (group < 0) return true;
    for (int i = plan.groups[group].first; i <= plan.groups[group].last; ++i)
      if (r.extent[plan.indices[i].id] != 1) return false;
    return true;
  };
  auto const add = [&](contraction_options options, lowering_code wanted) {
    contraction_plan const plan = plan_contraction(r.a, r.b, r.result, r.result_rank, options);
    if (plan.kind == contraction_kind::invalid || code_of(plan) != wanted) return;
    // A product with a vector reads the matrix once: loops do that at the speed of memory.
    if (plan.gemms() > 0 && (is_vector(plan, plan.m) || is_vector(plan, plan.n))) return;
    list.at[list.count] = {wanted, plan, predicted_seconds(plan, r)};
    bool const is_forced = list.at[list.chosen].code == r.forced;
    if (wanted == r.forced || (!is_forced && list.at[list.count].seconds < list.best().seconds))
      list.chosen = list.count;
    ++list.count;
  };
  add({.only_loops = true}, lowering_code::loops);
  if (list.count == 0) return list;
  contraction_plan& loops = list.at[0].plan;
  bool const sums = loops.pack_left || loops.pack_right;
  double products = 1;
  for (int i = 0; i < loops.index_count; ++i)
    products *= static_cast<double>(r.extent[loops.indices[i].id]);
  if (r.forced == lowering_code::automatic && products <= least_planned) {
    loops.pack_left = loops.pack_right = false;  // the loops take the sums in
    return list;
  }
  // Sums of bf16 are f32 from there on; the library has matrix products of two dtypes.
  if (r.type != dtype::f32 && (r.type != dtype::bf16 || sums)) return list;
  for (int copies = 0; copies < 8; ++copies) {
    bool const first = copies & 1;
    bool const second = copies & 2;
    bool const result = copies & 4;
    add({.must_pack_a = first, .must_pack_b = second, .must_permute = result},
        gemm_lowering(first, second, result));
  }
  if (list.best().code == r.forced) return list;
  // Nothing is copied where that wins little: memory counts too, and the prediction is one. A left
  // operand that the library would turn again for each product of a batch is another matter.
  for (int i = 1; i < list.count; ++i) {
    if (list.at[i].code != lowering_code::gemm) continue;
    contraction_sizes const s = sizes_of(list.at[i].plan, r.extent);
    bool const turns = detail::count_work(list.at[i].plan, r)[detail::work::item_left_across] > 1;
    if (!turns && s.m >= 16 && s.n >= 16 && s.k >= 16 &&
        list.at[i].seconds <= 1.25 * list.best().seconds)
      list.chosen = i;
  }
  return list;
}

}  // namespace ricci
