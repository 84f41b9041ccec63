#pragma once

#include <cstdint>

#include <ricci/tensor/layout.hpp>

namespace ricci {

/// The largest number of indices of a contraction.
inline constexpr int max_indices = 32;

/// What an index does in a contraction of two operands.
///   batch   in both operands and in the result
///   m       in the left operand and in the result
///   n       in the right operand and in the result
///   k       in both operands, not in the result
///   summed  in one operand only, not in the result: summed before all else
enum class index_role : std::uint8_t { batch, m, n, k, summed };

/// How a contraction runs.
///   gemm          one matrix product
///   batched_gemm  one matrix product with batch axes
///   loops         own loops, operands as they lie: outer products, dot products, integers, f64
///   copy          one operand, nothing summed: a permuted copy
///   sum           one operand, some indices summed
///   invalid       an index of the result stands in no operand, or an index stands there twice
enum class contraction_kind : std::uint8_t { gemm, batched_gemm, loops, copy, sum, invalid };

/// One operand of a contraction: its layout and the index of each axis. An index that stands
/// twice is a diagonal.
struct contraction_tensor {
  layout known;
  std::uint8_t index[max_rank] = {};
};

/// One index: its role and where it stands, as axis numbers, -1 where it does not.
struct planned_index {
  std::uint8_t id = 0;
  index_role role = index_role::k;
  std::int8_t left = -1;  // after the operand's diagonals were taken
  std::int8_t right = -1;
  std::int8_t result = -1;
};

/// Indices `first` ... `last` of the plan, one axis wherever they stand: its stride in each tensor
/// is that of `last`, its extent the product.
struct index_group {
  std::int8_t first = 0;
  std::int8_t last = 0;
  index_role role = index_role::k;
};

/// What may vary in planning.
struct contraction_options {
  bool only_loops = false;   // no matrix product for this dtype or size
  bool must_pack_a = false;  // forced, or strides that a matrix product does not take
  bool must_pack_b = false;
  bool must_permute = false;   // the product is computed beside the result and permuted into it
  bool prefer_pack_a = false;  // where either would do: a is the smaller one
};

/// How a contraction is lowered; plain data.
///   Value   the matrix product is result[batch, m, n] = sum over k of left[batch, m, k] *
///           right[batch, k, n], left and right being a and b, or b and a where `swapped`
struct contraction_plan {
  contraction_kind kind = contraction_kind::invalid;
  bool swapped = false;
  bool pack_left = false;    // copied first, to [batch, m, k]; its summed indices go on the way
  bool pack_right = false;   // copied first, to [batch, k, n]
  bool copy_result = false;  // computed as [batch, m, n] and then permuted
  std::int8_t diagonals_a = 0;
  std::int8_t diagonals_b = 0;
  std::int8_t m = -1;  // groups of the matrix product; -1: that extent is 1
  std::int8_t n = -1;
  std::int8_t k = -1;
  std::int8_t index_count = 0;
  std::int8_t group_count = 0;
  planned_index indices[max_indices];  // batch, m, n, each in the result's order; k; summed
  index_group groups[max_indices];

  constexpr int gemms() const {
    return kind == contraction_kind::gemm || kind == contraction_kind::batched_gemm ? 1 : 0;
  }
  constexpr int copies() const {
    return (pack_left ? 1 : 0) + (pack_right ? 1 : 0) + (copy_result ? 1 : 0) +
           (kind == contraction_kind::copy ? 1 : 0);
  }
  /// Batch axes of the matrix product: groups that are not its m, n or k.
  constexpr int batches() const { return gemms() * (group_count - (m >= 0) - (n >= 0) - (k >= 0)); }
};

namespace detail {

inline constexpr index_role result_roles[] = {index_role::batch, index_role::m, index_role::n};
inline constexpr index_role right_roles[] = {index_role::batch, index_role::k, index_role::n};

constexpr contraction_tensor without_diagonals(contraction_tensor t, std::int8_t& diagonals) {
  for (int q = 1; q < t.known.rank; ++q) {
    for (int p = 0; p < q; ++p) {
      if (t.index[p] != t.index[q]) continue;
      t.known = diagonal(t.known, p, q);
      for (int i = q; i < t.known.rank; ++i) t.index[i] = t.index[i + 1];
      ++diagonals;
      --q;
      break;
    }
  }
  return t;
}

// The layout of one tensor while grouping: as it lies, or packed in the order of the plan.
struct grouping_tensor {
  layout known;
  std::int8_t axis[max_indices] = {};  // of each index of the plan; -1: not in this tensor

  constexpr void pack(int count) {
    int rank = 0;
    for (int i = 0; i < count; ++i)
      if (axis[i] >= 0) axis[i] = static_cast<std::int8_t>(rank++);
    known = layout::packed(rank);
  }
  constexpr bool can_merge(int p, int q) const {
    return axis[p] < 0 || ricci::can_merge(known, axis[p], axis[q]);
  }
  constexpr bool has_unit_stride(int i) const {
    return axis[i] >= 0 && known.ordered > 0 && known.axis_at(known.ordered - 1) == axis[i] &&
           known.link_of(axis[i]) == link::dense;
  }
  constexpr bool is(int i, link l) const { return axis[i] >= 0 && known.link_of(axis[i]) == l; }
};

// Neighbouring indices of one role become groups where all three tensors allow it.
constexpr void group_indices(contraction_plan& plan, grouping_tensor const& left,
                             grouping_tensor const& right, grouping_tensor const& result) {
  plan.group_count = 0;
  for (int i = 0; i < plan.index_count; ++i) {
    index_role const role = plan.indices[i].role;
    if (role == index_role::summed) continue;
    bool const joins = i > 0 && plan.indices[i - 1].role == role && left.can_merge(i - 1, i) &&
                       right.can_merge(i - 1, i) && result.can_merge(i - 1, i);
    if (joins)
      plan.groups[plan.group_count - 1].last = static_cast<std::int8_t>(i);
    else
      plan.groups[plan.group_count++] = {static_cast<std::int8_t>(i), static_cast<std::int8_t>(i),
                                         role};
  }
}

constexpr int groups_of(contraction_plan const& plan, index_role role) {
  int count = 0;
  for (int g = 0; g < plan.group_count; ++g) count += plan.groups[g].role == role;
  return count;
}

// The indices of a role in the order in which they lie in `reference`, slowest first.
constexpr void sort_role(contraction_plan& plan, index_role role, layout const& reference,
                         bool is_left) {
  for (int i = 1; i < plan.index_count; ++i) {
    for (int j = i; j > 0; --j) {
      planned_index& p = plan.indices[j - 1];
      planned_index& q = plan.indices[j];
      if (p.role != role || q.role != role) break;
      if (reference.place_of(is_left ? p.left : p.right) <=
          reference.place_of(is_left ? q.left : q.right))
        break;
      planned_index const kept = p;
      p = q;
      q = kept;
    }
  }
}

// Do the k indices, in some order, form one axis of this tensor?
constexpr bool has_one_k(contraction_plan plan, layout const& known, bool is_left) {
  sort_role(plan, index_role::k, known, is_left);
  for (int i = 1; i < plan.index_count; ++i) {
    planned_index const& p = plan.indices[i - 1];
    planned_index const& q = plan.indices[i];
    if (p.role != index_role::k || q.role != index_role::k) continue;
    if (!follows(known, is_left ? p.left : p.right, is_left ? q.left : q.right)) return false;
  }
  return true;
}

}  // namespace detail

/// Plans result = a contracted with b, from layouts alone; the same function at compile time and
/// at run time.
///   Value   one matrix product where the roles merge; else one with batch axes: an m that does not
///           merge is a batch axis that the right operand broadcasts over, and so on; else operands
///           are packed first
///   @pre    ids < max_indices; the result is packed, its axes in the order of `result`
///   @post   kind != invalid => each group's indices follow each other in every tensor that has
///           them, packed ones in the order of `indices`
///   @post   gemms() == 1 => n has unit stride in the result, and left and right have it on one of
///           their two axes of the product; none of its axes is reversed, and no m, n or k
///           broadcast
///   Cost    one pass over the indices for each copy that turns out to be needed
constexpr contraction_plan plan_contraction(contraction_tensor a, contraction_tensor b,
                                            std::uint8_t const* result, int result_rank,
                                            contraction_options options = {}) {
  using detail::grouping_tensor;
  contraction_plan plan;
  a = detail::without_diagonals(a, plan.diagonals_a);
  b = detail::without_diagonals(b, plan.diagonals_b);

  std::int8_t in_a[max_indices] = {};  // axis + 1
  std::int8_t in_b[max_indices] = {};
  std::int8_t in_result[max_indices] = {};
  for (int i = 0; i < a.known.rank; ++i) in_a[a.index[i]] = static_cast<std::int8_t>(i + 1);
  for (int i = 0; i < b.known.rank; ++i) in_b[b.index[i]] = static_cast<std::int8_t>(i + 1);
  int counts[5] = {};
  auto const role_of = [&](int id) {
    if (in_a[id] && in_b[id]) return in_result[id] ? index_role::batch : index_role::k;
    if (!in_result[id]) return index_role::summed;
    return in_a[id] ? index_role::m : index_role::n;
  };
  for (int i = 0; i < result_rank; ++i) {
    int const id = result[i];
    if (in_result[id] || (!in_a[id] && !in_b[id])) return plan;
    in_result[id] = static_cast<std::int8_t>(i + 1);
  }

  // The result's unit stride must be on n; where it is on a batch index, the copy of it is.
  index_role last = index_role::k;
  bool has_n = false;
  for (int i = 0; i < result_rank; ++i) {
    last = role_of(result[i]);
    has_n = has_n || last == index_role::n;
  }
  plan.swapped = last == index_role::m || (last == index_role::batch && !has_n);
  contraction_tensor const& left = plan.swapped ? b : a;
  contraction_tensor const& right = plan.swapped ? a : b;
  auto const swapped_role = [&](index_role role) {
    if (!plan.swapped || (role != index_role::m && role != index_role::n)) return role;
    return role == index_role::m ? index_role::n : index_role::m;
  };
  auto const append = [&](int id, index_role role) {
    std::int8_t const of_a = static_cast<std::int8_t>(in_a[id] - 1);
    std::int8_t const of_b = static_cast<std::int8_t>(in_b[id] - 1);
    plan.indices[plan.index_count++] = {static_cast<std::uint8_t>(id), role,
                                        plan.swapped ? of_b : of_a, plan.swapped ? of_a : of_b,
                                        static_cast<std::int8_t>(in_result[id] - 1)};
    ++counts[static_cast<int>(role)];
  };
  for (index_role role : detail::result_roles)
    for (int i = 0; i < result_rank; ++i)
      if (swapped_role(role_of(result[i])) == role) append(result[i], role);
  for (int i = 0; i < left.known.rank; ++i)
    if (role_of(left.index[i]) == index_role::k) append(left.index[i], index_role::k);
  bool sum_left = false;
  bool sum_right = false;
  for (int i = 0; i < left.known.rank; ++i)
    if (role_of(left.index[i]) == index_role::summed) {
      append(left.index[i], index_role::summed);
      sum_left = true;
    }
  for (int i = 0; i < right.known.rank; ++i)
    if (role_of(right.index[i]) == index_role::summed) {
      append(right.index[i], index_role::summed);
      sum_right = true;
    }

  int const ms = counts[static_cast<int>(index_role::m)];
  int const ns = counts[static_cast<int>(index_role::n)];
  int const ks = counts[static_cast<int>(index_role::k)];
  bool const loops = options.only_loops || ks == 0 || (ms == 0 && ns == 0);
  plan.pack_left =
      sum_left || (!loops && (plan.swapped ? options.must_pack_b : options.must_pack_a));
  plan.pack_right =
      sum_right || (!loops && (plan.swapped ? options.must_pack_a : options.must_pack_b));
  plan.copy_result = !loops && (options.must_permute || last == index_role::batch);

  for (int i = 0; !loops && i < plan.index_count; ++i) {
    planned_index const& index = plan.indices[i];
    bool const may_broadcast = index.role == index_role::batch;
    auto const unfit = [&](layout const& known, int axis) {
      return axis >= 0 && (known.link_of(axis) == link::reversed ||
                           (known.link_of(axis) == link::broadcast && !may_broadcast));
    };
    if (unfit(left.known, index.left)) plan.pack_left = true;
    if (unfit(right.known, index.right)) plan.pack_right = true;
  }
  if (!loops && ks > 1) {
    bool const left_merges = plan.pack_left || detail::has_one_k(plan, left.known, true);
    bool const right_merges = plan.pack_right || detail::has_one_k(plan, right.known, false);
    if (!left_merges) plan.pack_left = true;
    if (!right_merges) plan.pack_right = true;
  }

  // Beside the result the order is free: that of the operands.
  if (plan.copy_result) {
    detail::sort_role(plan, index_role::batch, left.known, true);
    detail::sort_role(plan, index_role::m, left.known, true);
    detail::sort_role(plan, index_role::n, right.known, false);
  }

  bool const prefer_left = plan.swapped != options.prefer_pack_a;
  for (;;) {
    bool const by_left = !plan.pack_left || plan.pack_right;
    if (ks > 1) detail::sort_role(plan, index_role::k, by_left ? left.known : right.known, by_left);
    grouping_tensor of_left{left.known};
    grouping_tensor of_right{right.known};
    grouping_tensor of_result;
    for (int i = 0; i < plan.index_count; ++i) {
      bool const is_summed = plan.indices[i].role == index_role::summed;
      of_left.axis[i] = is_summed ? std::int8_t{-1} : plan.indices[i].left;
      of_right.axis[i] = is_summed ? std::int8_t{-1} : plan.indices[i].right;
      of_result.axis[i] = plan.indices[i].result;
    }
    of_result.known = layout::packed(result_rank);
    if (plan.copy_result) of_result.pack(plan.index_count);
    if (plan.pack_left) of_left.pack(plan.index_count);
    if (plan.pack_right) {
      // Packed to [batch, k, n]: k stands before n there.
      std::int8_t rank = 0;
      for (index_role role : detail::right_roles)
        for (int i = 0; i < plan.index_count; ++i)
          if (plan.indices[i].role == role) of_right.axis[i] = rank++;
      of_right.known = layout::packed(rank);
    }
    detail::group_indices(plan, of_left, of_right, of_result);
    if (loops) {
      plan.kind = contraction_kind::loops;
      return plan;
    }
    if (detail::groups_of(plan, index_role::k) > 1) {  // both merge, in different orders
      (prefer_left ? plan.pack_left : plan.pack_right) = true;
      continue;
    }
    plan.m = plan.n = plan.k = -1;
    for (int g = 0; g < plan.group_count; ++g) {
      std::int8_t const number = static_cast<std::int8_t>(g);
      index_group const& group = plan.groups[g];
      if (group.role == index_role::k) plan.k = number;
      if (group.role == index_role::n) plan.n = number;  // the last one: the result's fastest
      if (group.role != index_role::m) continue;
      bool const taken = plan.m >= 0 && of_left.has_unit_stride(plan.groups[plan.m].last);
      if (!taken) plan.m = number;
    }
    auto const has_unit = [&](grouping_tensor const& t, int g) {
      return g >= 0 && t.has_unit_stride(plan.groups[g].last);
    };
    bool const left_fits = has_unit(of_left, plan.m) || has_unit(of_left, plan.k);
    bool const right_fits = has_unit(of_right, plan.n) || has_unit(of_right, plan.k);
    if (left_fits && right_fits) break;
    if (!left_fits) plan.pack_left = true;
    if (!right_fits) plan.pack_right = true;
  }
  int const in_product = (plan.m >= 0) + (plan.n >= 0) + 1;
  plan.kind =
      plan.group_count > in_product ? contraction_kind::batched_gemm : contraction_kind::gemm;
  return plan;
}

/// Plans a contraction of one operand: diagonals, sums and the order of the result.
///   @post  kind is copy where no index is summed, else sum; roles are m and k, of `left`
constexpr contraction_plan plan_contraction(contraction_tensor a, std::uint8_t const* result,
                                            int result_rank) {
  contraction_plan plan;
  a = detail::without_diagonals(a, plan.diagonals_a);
  detail::grouping_tensor of_left{a.known};
  detail::grouping_tensor of_right;
  detail::grouping_tensor of_result{layout::packed(result_rank)};
  bool in_result[max_indices] = {};
  for (int i = 0; i < result_rank; ++i) {
    std::int8_t axis = 0;
    while (axis < a.known.rank && a.index[axis] != result[i]) ++axis;
    if (axis == a.known.rank || in_result[result[i]]) return plan;
    in_result[result[i]] = true;
    plan.indices[plan.index_count++] = {result[i], index_role::m, axis, -1,
                                        static_cast<std::int8_t>(i)};
  }
  for (int place = 0; place < a.known.rank; ++place) {
    // In the order of memory, broadcast axes last.
    int axis = place < a.known.ordered ? a.known.axis_at(place) : -1;
    for (int i = 0, seen = a.known.ordered; axis < 0; ++i)
      if (a.known.link_of(i) == link::broadcast && seen++ == place) axis = i;
    if (in_result[a.index[axis]]) continue;
    plan.indices[plan.index_count++] = {a.index[axis], index_role::k,
                                        static_cast<std::int8_t>(axis), -1, -1};
  }
  for (int i = 0; i < plan.index_count; ++i) {
    of_left.axis[i] = plan.indices[i].left;
    of_right.axis[i] = -1;
    of_result.axis[i] = plan.indices[i].result;
  }
  detail::group_indices(plan, of_left, of_right, of_result);
  plan.kind = plan.index_count > result_rank ? contraction_kind::sum : contraction_kind::copy;
  return plan;
}

}  // namespace ricci
