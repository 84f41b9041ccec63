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

namespace detail {

/// What a lowering does, in countable things; how long it takes is a weighted sum of them.
enum class work : int {
  call,
  item,          // products of a batch
  operation,     // multiplications and additions
  column_waste,  // those on the columns that fill up vectors
  row_waste,     // those that few rows leave idle
  left,          // elements of the left operand, each time that they are packed or read
  right,
  result,
  left_across,  // of the left operand where its rows lie across those that the product wants
  right_across,
  left_run,  // pieces of the left operand that follow each other in memory along one role
  right_run,
  result_run,
  cold,         // bytes beyond the caches
  copy,         // copies made
  copied,       // elements copied
  copied_run,   // pieces that follow each other in memory, source and target
  copied_cold,  // bytes of copies beyond the caches
  result_line,
  item_left_across,       // items whose left operand lies across
  operation_left_across,  // operations on a left operand that lies across
  result_apart,           // elements of a result whose fastest axis is one of the batch
  item_left_loose,
  item_right_loose,
  operation_left_loose,
  operation_right_loose,
  result_loose,   // cache lines of a result whose rows are not dense
  result_again,   // elements of a result that is summed up in several passes over k
  left_run_cold,  // pieces of what the caches do not hold
  right_run_cold,
  result_run_cold,
  copied_turned,  // pieces of source and target where they run along different indices
  count
};
inline constexpr int work_kinds = static_cast<int>(work::count);

struct work_done {
  double of[work_kinds] = {};
  constexpr double& operator[](work w) { return of[static_cast<int>(w)]; }
};

constexpr double padded_to(double x, int step) {
  std::int64_t const whole = static_cast<std::int64_t>(x);
  return x < 1e15 ? static_cast<double>((whole + step - 1) / step * step) : x;
}

// The product of the extents of the fastest axes, as long as they follow each other and `joins`.
template <class Joins>
constexpr double run_of(layout const& known, Joins const& joins, double const* extent_of_axis) {
  double run = 1;
  for (int place = known.ordered - 1; place >= 0; --place) {
    int const axis = known.axis_at(place);
    if (known.link_of(axis) != link::dense || !joins(axis)) break;
    run *= extent_of_axis[axis];
  }
  return run;
}

// What is countable of one tensor of a plan.
struct tensor_facts {
  double elements = 1;
  double run = 1;          // elements that follow each other along the axes of one role
  double line = 1;         // and along the axes of both
  bool is_across = false;  // does the fastest one belong to the first of the two roles?
  bool is_apart = false;   // or to neither?
};

constexpr tensor_facts facts_of(contraction_plan const& plan, contraction_request const& r,
                                layout const& known, std::int8_t planned_index::* place,
                                index_role across, index_role along) {
  tensor_facts facts;
  double extent[max_indices] = {};
  index_role role[max_indices] = {};
  for (int i = 0; i < plan.index_count; ++i) {
    int const axis = plan.indices[i].*place;
    if (axis < 0) continue;
    extent[axis] = static_cast<double>(r.extent[plan.indices[i].id]);
    role[axis] = plan.indices[i].role;
    facts.elements *= extent[axis];
  }
  if (known.ordered == 0) return facts;
  index_role const own = role[known.axis_at(known.ordered - 1)];
  auto const is_own = [&](int axis) { return role[axis] == own; };
  auto const is_either = [&](int axis) { return role[axis] == across || role[axis] == along; };
  facts.is_across = own == across;
  facts.is_apart = own != across && own != along;
  if (facts.is_apart) return facts;
  facts.run = run_of(known, is_own, extent);
  facts.line = run_of(known, is_either, extent);
  return facts;
}

// Index ids, slowest first.
struct index_order {
  std::uint8_t id[max_indices] = {};
  int count = 0;
  constexpr void add(std::uint8_t next) { id[count++] = next; }
  constexpr int place_of(std::uint8_t wanted) const {
    for (int i = 0; i < count; ++i)
      if (id[i] == wanted) return i;
    return -1;
  }
};

// As they lie in a tensor.
constexpr index_order order_in(contraction_plan const& plan, layout const& known,
                               std::int8_t planned_index::* place) {
  index_order order;
  for (int at = 0; at < known.ordered; ++at)
    for (int i = 0; i < plan.index_count; ++i)
      if (plan.indices[i].*place == known.axis_at(at)) order.add(plan.indices[i].id);
  return order;
}

struct three_roles {
  index_role of[3];
};
constexpr index_order order_of(contraction_plan const& plan, three_roles roles) {
  index_order order;
  for (index_role const role : roles.of)
    for (int i = 0; i < plan.index_count; ++i)
      if (plan.indices[i].role == role) order.add(plan.indices[i].id);
  return order;
}

// A copy moves pieces that follow each other in memory: how many of them for an element. Where the
// fastest index is another one, those of the source and those of the target count.
struct copy_pieces {
  double count = 1;
  bool is_turned = false;  // source and target run along different indices
};

constexpr copy_pieces pieces_of(index_order from, index_order to, std::int64_t const* extent,
                                double size) {
  if (from.count == 0 || to.count == 0) return {};
  int taken = 0;
  auto const run = [&](index_order const& x, index_order const& y) {
    double length = static_cast<double>(extent[x.id[x.count - 1]]);
    taken = 1;
    for (int i = x.count - 1; i > 0; --i, ++taken) {
      int const place = y.place_of(x.id[i]);
      if (place < 1 || y.id[place - 1] != x.id[i - 1]) break;
      length *= static_cast<double>(extent[x.id[i - 1]]);
    }
    return length;
  };
  double of_element = 1;
  double length = run(from, to);
  // Up to 8 bytes that stay together are one element.
  while (from.id[from.count - 1] == to.id[to.count - 1] && length * size <= 8 &&
         taken < from.count && taken < to.count) {
    from.count -= taken;
    to.count -= taken;
    of_element /= length;
    size *= length;
    length = run(from, to);
  }
  if (from.id[from.count - 1] == to.id[to.count - 1]) return {of_element / length, false};
  return {of_element * (1 / length + 1 / run(to, from)), true};
}

// The tiles of kernels/contract, as far as the sizes alone tell.
struct loop_tiles {
  double passes_left = 1;  // times that each element is packed
  double passes_right = 1;
  double passes_result = 1;

  constexpr loop_tiles() = default;
  constexpr loop_tiles(contraction_sizes const& s, double size) {
    auto const parts = [](double extent, double part) {
      return extent <= part ? 1.0
                            : static_cast<double>(static_cast<std::int64_t>(extent / part + 0.999));
    };
    auto const between = [](double least, double x, double most) {
      return x < least ? least : x > most ? most : x;
    };
    double const scale = size > 4 ? 1 : 2;
    double const depth = s.k < 1 ? 1 : s.k;
    bool const is_whole = s.k <= 384;
    double rows = scale * 96;
    double columns = scale * 128;
    if (is_whole) {
      columns = between(32, scale * 32768 / depth, scale * 320);
      rows = between(12, scale * 16384 / depth, 240);
    } else {
      for (; s.batch * parts(s.n, columns) * parts(s.m, rows) < 8 && columns > 64;
           rows > 48 ? rows /= 2 : columns /= 2) {
      }
      passes_result = parts(s.k, 256);
    }
    double const across = parts(s.n, columns);
    double const down = parts(s.m, rows);
    passes_left = across;
    passes_right = is_whole ? parts(down, between(1, s.batch * across * down / 32, down)) : down;
  }
};

constexpr double beyond(double bytes, double cache) { return bytes > cache ? bytes - cache : 0; }

constexpr work_done count_work(contraction_plan const& plan, contraction_request const& r) {
  contraction_sizes const s = sizes_of(plan, r.extent);
  layout const& left_known = plan.swapped ? r.b.known : r.a.known;
  layout const& right_known = plan.swapped ? r.a.known : r.b.known;
  tensor_facts const left =
      facts_of(plan, r, left_known, &planned_index::left, index_role::m, index_role::k);
  tensor_facts const right =
      facts_of(plan, r, right_known, &planned_index::right, index_role::k, index_role::n);
  tensor_facts const result = facts_of(plan, r, layout::packed(r.result_rank),
                                       &planned_index::result, index_role::m, index_role::n);
  constexpr double cache = 4e6;  // bytes
  double const size = size_of(r.type);
  constexpr int lanes = 16;
  bool const is_loops = plan.gemms() == 0;
  work_done w;
  w[work::call] = 1;
  w[work::item] = s.batch;
  w[work::operation] = s.operations();
  double const columns = padded_to(s.n, lanes);
  w[work::column_waste] = 2 * s.batch * s.m * (columns - s.n) * s.k;
  double const rows = is_loops ? (s.m < 4 ? 4 : s.m) : padded_to(s.m, 8);
  w[work::row_waste] = 2 * s.batch * (rows - s.m) * columns * s.k;
  loop_tiles const tiles = is_loops ? loop_tiles(s, size) : loop_tiles();
  w[work::left] = s.batch * s.m * s.k * tiles.passes_left;
  w[work::right] = s.batch * s.k * s.n * tiles.passes_right;
  w[work::result] = s.batch * s.m * s.n;
  if (!plan.pack_left && left.is_across) {
    w[work::left_across] = w[work::left];
    w[work::item_left_across] = s.batch;
    w[work::operation_left_across] = s.operations();
  }
  if (!plan.pack_right && right.is_across) w[work::right_across] = w[work::right];
  // A packed operand is dense; another is where the two groups of the product are one axis.
  auto const is_dense = [&](layout const& known, std::int8_t planned_index::* place, int p, int q) {
    if (p < 0 || q < 0) return true;
    auto const axis = [&](int which) { return plan.indices[which].*place; };
    auto const joins = [&](index_group const& slow, index_group const& fast) {
      return follows(known, axis(slow.last), axis(fast.first));
    };
    return joins(plan.groups[p], plan.groups[q]) || joins(plan.groups[q], plan.groups[p]);
  };
  if (!is_loops && !plan.pack_left && !is_dense(left_known, &planned_index::left, plan.m, plan.k)) {
    w[work::item_left_loose] = s.batch;
    w[work::operation_left_loose] = s.operations();
  }
  if (!is_loops && !plan.pack_right &&
      !is_dense(right_known, &planned_index::right, plan.k, plan.n)) {
    w[work::item_right_loose] = s.batch;
    w[work::operation_right_loose] = s.operations();
  }
  if (!is_loops && !plan.copy_result &&
      !is_dense(layout::packed(r.result_rank), &planned_index::result, plan.m, plan.n))
    w[work::result_loose] = s.batch * s.m * (s.n / lanes + 1);
  if (is_loops) {
    w[work::left_run] = w[work::left] / left.run;
    w[work::right_run] = w[work::right] / right.run;
    w[work::result_run] = result.is_across ? w[work::result] : w[work::result] / result.run;
    w[work::result_line] = w[work::result] / result.line;
    w[work::result_again] = w[work::result] * (tiles.passes_result - 1);
    auto const share = [&](double elements) {
      return elements > 0 ? beyond(elements * size, cache) / (elements * size) : 0;
    };
    w[work::left_run_cold] = w[work::left_run] * share(left.elements);
    w[work::right_run_cold] = w[work::right_run] * share(right.elements);
    w[work::result_run_cold] = w[work::result_run] * share(result.elements);
    if (result.is_apart) w[work::result_apart] = w[work::result];
  }
  w[work::cold] = beyond((left.elements + right.elements + result.elements) * size, cache);
  auto const copy = [&](double elements, index_order const& from, index_order const& to) {
    w[work::copy] += 1;
    w[work::copied] += elements;
    copy_pieces const pieces = pieces_of(from, to, r.extent, size);
    w[pieces.is_turned ? work::copied_turned : work::copied_run] += elements * pieces.count;
    w[work::copied_cold] += beyond(2 * elements * size, cache);
  };
  if (plan.pack_left)
    copy(left.elements, order_in(plan, left_known, &planned_index::left),
         order_of(plan, {index_role::batch, index_role::m, index_role::k}));
  if (plan.pack_right)
    copy(right.elements, order_in(plan, right_known, &planned_index::right),
         order_of(plan, {index_role::batch, index_role::k, index_role::n}));
  if (plan.copy_result)
    copy(result.elements, order_of(plan, {index_role::batch, index_role::m, index_role::n}),
         order_in(plan, layout::packed(r.result_rank), &planned_index::result));
  return w;
}

}  // namespace detail
}  // namespace ricci
