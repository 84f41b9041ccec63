#pragma once

#include <cstdint>

#include <ricci/plan/contraction.hpp>
#include <ricci/plan/lowering.hpp>
#include <ricci/tensor/dtype.hpp>

namespace ricci {

/// What the choice among the lowerings of a contraction depends on; the number of threads is not
/// among it, so that neither are the bits of the result.
struct contraction_request {
  contraction_tensor a;  // without indices of extent 1
  contraction_tensor b;
  std::uint8_t result[max_rank] = {};
  int result_rank = 0;
  std::int64_t extent[max_indices] = {};  // by index id
  dtype type = dtype::f32;                // of the operands
  dtype result_type = dtype::f32;
  bool has_epilogue = false;
  lowering_code forced = lowering_code::automatic;
};

/// The sizes of a planned contraction: of its matrix product, or of its loops.
struct contraction_sizes {
  double batch = 1;
  double m = 1;
  double n = 1;
  double k = 1;
  double first = 1;  // elements of the operands, their diagonals taken, and of the result
  double second = 1;
  double result = 1;
  constexpr double operations() const { return 2 * batch * m * n * k; }
};

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

constexpr contraction_sizes sizes_of(contraction_plan const& plan, std::int64_t const* extent) {
  contraction_sizes sizes;
  double left = 1;
  double right = 1;
  for (int i = 0; i < plan.index_count; ++i) {
    planned_index const& index = plan.indices[i];
    double const e = static_cast<double>(extent[index.id]);
    if (index.left >= 0) left *= e;
    if (index.right >= 0) right *= e;
    if (index.result >= 0) sizes.result *= e;
  }
  sizes.first = plan.swapped ? right : left;
  sizes.second = plan.swapped ? left : right;
  for (int g = 0; g < plan.group_count; ++g) {
    double e = 1;
    for (int i = plan.groups[g].first; i <= plan.groups[g].last; ++i)
      e *= static_cast<double>(extent[plan.indices[i].id]);
    bool const is_loop = plan.gemms() == 0;
    index_role const role = plan.groups[g].role;
    if (is_loop ? role == index_role::m : g == plan.m)
      sizes.m *= e;
    else if (is_loop ? role == index_role::n : g == plan.n)
      sizes.n *= e;
    else if (is_loop ? role == index_role::k : g == plan.k)
      sizes.k *= e;
    else
      sizes.batch *= e;
  }
  return sizes;
}

/// How long a planned contraction takes, roughly, on two cores of the reference machine.
///   Units  seconds; only ratios between candidates mean something
///   Source bench/plan/lowerings.cpp, fitted: see the constants
constexpr double predicted_seconds(contraction_plan const& plan, contraction_request const& r) {
  contraction_sizes const s = sizes_of(plan, r.extent);
  double const bytes = size_of(r.type);
  double const copied = (plan.pack_left ? 2 * (plan.swapped ? s.second : s.first) * bytes : 0) +
                        (plan.pack_right ? 2 * (plan.swapped ? s.first : s.second) * bytes : 0) +
                        (plan.copy_result ? 2 * s.result * bytes : 0);
  double const touched = (s.first + s.second + s.result) * bytes;
  double const peak = r.type == dtype::bf16 ? 8e11 : 4.5e11;
  double seconds = copied / 2e10 + touched / 4e10;
  if (plan.gemms() == 0)
    seconds += s.operations() / (0.5 * 4.5e11);
  else
    seconds += s.operations() / peak + s.batch * 1e-7;
  return seconds;
}

/// The ways to lower a contraction, and the one that is chosen.
///   @post  count >= 1 unless the contraction is invalid; codes are all different; every plan keeps
///          plan_contraction's postconditions; at[chosen].seconds is the least, or `forced` is
///          chosen if it is among them
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
  return list;
}

}  // namespace ricci
