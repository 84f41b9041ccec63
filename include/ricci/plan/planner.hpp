#pragma once

#include <ricci/plan/candidates.hpp>
#include <ricci/plan/live_values.hpp>
#include <ricci/plan/operations.hpp>
#include <ricci/plan/plan_step.hpp>
#include <ricci/plan/statement_builder.hpp>

namespace ricci::detail {

/// A sum of monomials, like ones joined.
struct monomial_sum {
  static constexpr int capacity = 48;
  int count = 0;
  bool is_whole = true;  // false: there was no room for all
  monomial terms[capacity];

  constexpr void add(std::int64_t factor, monomial const& term) {
    monomial scaled = product_of(term, size_from(factor).term);
    if (scaled.numerator == 0) return;
    int i = 0;
    while (i < count && !is_like(terms[i], scaled)) ++i;
    if (i == capacity) {
      is_whole = false;
      return;
    }
    if (i == count) {
      terms[count++] = scaled;
      return;
    }
    monomial& to = terms[i];
    std::int64_t const common = common_divisor(to.denominator, scaled.denominator);
    std::int64_t const wider = scaled.denominator / common;
    std::int64_t const sum =
        saturating_sum(saturating_product(to.numerator, wider),
                       saturating_product(scaled.numerator, to.denominator / common));
    monomial const reduced =
        product_of({sum, saturating_product(to.denominator, wider), {}}, monomial{});
    to.numerator = reduced.numerator;
    to.denominator = reduced.denominator;
  }

 private:
  static constexpr bool is_like(monomial const& a, monomial const& b) {
    for (int i = 0; i < max_symbols; ++i)
      if (a.power[i] != b.power[i]) return false;
    return true;
  }
};

/// Where a planner writes; what is null or beyond its size is counted and not kept.
struct plan_record {
  plan_step* steps = nullptr;  // [max_steps]
  int max_steps = 0;
  int step_count = 0;
  int* lists = nullptr;  // [max_list]: what steps read, and what they fused
  int max_list = 0;
  int list_size = 0;
  contraction_request* requests = nullptr;  // [max_steps], of contractions
  contraction_plan* plans = nullptr;
  monomial_sum* operations = nullptr;
  monomial_sum* bytes = nullptr;

  constexpr void push(int value) {
    if (list_size < max_list) lists[list_size] = value;
    ++list_size;
  }
};

/// The elementwise values that one loop computes, down to what it reads; see src/graph/region.hpp.
struct planned_region {
  static constexpr int max_nodes = 128;
  static constexpr int max_sources = 32;
  static constexpr int max_numbers = 64;
  struct entry {
    int value;
    bool is_exclusive;
  };
  entry nodes[max_nodes];
  entry sources[max_sources];
  int numbers[max_numbers];
  int node_count = 0;
  int source_count = 0;
  int number_count = 0;

  constexpr int find_node(int value) const {
    for (int i = node_count - 1; i >= 0; --i)
      if (nodes[i].value == value) return i;
    return -1;
  }
  constexpr int find_source(int value) const {
    for (int i = 0; i < source_count; ++i)
      if (sources[i].value == value) return i;
    return -1;
  }
  constexpr bool has_number(int value) const {
    for (int i = 0; i < number_count; ++i)
      if (numbers[i] == value) return true;
    return false;
  }
};

/// How far up from a contraction its epilogue reaches; see src/graph/epilogue.cpp.
struct planned_chain {
  int bottom = -1;
  int end = -1;
  int added[2] = {-1, -1};
  int added_count = 0;
  bool is_scaled = false;
  bool has_activation = false;
  int length = 0;
  int path[8] = {};             // the first of its values, from below
  std::int64_t operations = 0;  // an element

  constexpr void push(int value) {
    if (length < most_shown) path[length] = value;
    end = value;
    ++length;
  }
  static constexpr int most_shown = 8;
};

/// Follows a statement through its evaluation, as src/graph does it, and writes down its steps.
///   Value   the same steps, copies and bytes as an evaluation has, temporaries of backends aside
///   @pre    frames: room for value_count + 1
class statement_planner {
 public:
  struct frame {
    int value;
    int next_input;
    int first_node;
    bool is_exclusive;
  };

  constexpr statement_planner(statement const& s, live_value* values, statement_storage* storages,
                              frame* frames, plan_record& to)
      : s_(s), live_(s, values, storages), frames_(frames), to_(to) {}

  constexpr plan_totals run() {
    evaluate(s_.root());
    plan_totals totals = totals_;
    int const root = s_.root();
    // Memory that was there before the statement is none of its result's.
    totals.result_bytes = live_.is_new(root) ? live_.storage_bytes(root) : 0;
    totals.result_is_view = !is_packed(live_.v[root].order);
    totals.temporary_bytes = live_.peak() - totals.result_bytes;
    totals.peak_bytes = live_.peak();
    totals.value_peak_bytes = live_.value_peak();
    return totals;
  }
  constexpr layout const& order_of(int value) const { return live_.v[value].order; }

 private:
  // --- values ---------------------------------------------------------------------------------
  constexpr statement_value const& at(int id) const { return s_.values[id]; }
  constexpr bool is_evaluated(int id) const { return live_.v[id].is_evaluated; }
  constexpr int references(int id) const { return live_.v[id].references; }
  constexpr bool is_number(int id) const {
    return at(id).kind == value_kind::number && !is_evaluated(id);
  }
  constexpr bool is_open(int id) const {
    return at(id).kind == value_kind::pointwise && !is_evaluated(id);
  }
  constexpr bool same_axes(int a, int b) const {
    if (at(a).rank != at(b).rank) return false;
    for (int i = 0; i < at(a).rank; ++i)
      if (!is_same_axis(at(a).axes[i], at(b).axes[i])) return false;
    return true;
  }
  constexpr sized extent(int id, int axis) const {
    int const place = at(id).first_extent + axis;
    return {s_.extents[place], s_.terms != nullptr ? s_.terms[place] : monomial{}};
  }
  constexpr sized index_size(int contraction, int id) const {
    return {
        s_.contractions[contraction].extent[id],
        s_.index_terms != nullptr ? s_.index_terms[contraction * max_indices + id] : monomial{}};
  }
  // The different elements of a value: those along broadcast axes are one.
  constexpr sized elements(int id) const {
    sized result;
    for (int i = 0; i < at(id).rank; ++i) {
      bool const repeats = is_evaluated(id) && live_.v[id].order.link_of(i) == link::broadcast;
      if (!repeats) result = result * extent(id, i);
    }
    return result;
  }
  constexpr sized places(int id) const {
    sized result;
    for (int i = 0; i < at(id).rank; ++i) result = result * extent(id, i);
    return result;
  }

  // --- steps ----------------------------------------------------------------------------------
  constexpr plan_step& begin_step(step_kind kind, int value, int origin) {
    live_.take_recent_peak();
    plan_step& step = next_step();
    step = {};
    step.kind = kind;
    step.value = value;
    step.origin = origin;
    step.first_read = to_.list_size;
    return step;
  }
  constexpr void read(plan_step& step, int id) {
    to_.push(id);
    ++step.operands;
  }
  constexpr void reads_value(plan_step& step, int id) {
    read(step, id);
    charge_read(step, elements(id), at(id).type);
  }
  constexpr void charge(plan_step& step, std::int64_t factor, sized const& count) {
    if (factor == 0) return;
    step.operations = saturating_sum(step.operations, saturating_product(factor, count.value));
    if (to_.operations != nullptr) to_.operations->add(factor, count.term);
  }
  constexpr void charge_read(plan_step& step, sized const& count, dtype type) {
    step.bytes_read =
        saturating_sum(step.bytes_read, saturating_product(count.value, size_of(type)));
    if (to_.bytes != nullptr) to_.bytes->add(size_of(type), count.term);
  }
  constexpr void charge_write(plan_step& step, sized const& count, dtype type) {
    step.bytes_written =
        saturating_sum(step.bytes_written, saturating_product(count.value, size_of(type)));
    if (to_.bytes != nullptr) to_.bytes->add(size_of(type), count.term);
  }
  constexpr void end_step(plan_step& step) {
    step.live_bytes = live_.take_recent_peak();
    switch (step.kind) {
      case step_kind::view:
        ++totals_.views;
        break;
      case step_kind::gemm:
        ++totals_.gemms;
        break;
      case step_kind::loops:
      case step_kind::loop:
        ++totals_.loops;
        break;
      case step_kind::reduction:
        ++totals_.reductions;
        break;
      case step_kind::kernel:
        ++totals_.kernels;
        break;
      default:
        ++totals_.copies;
    }
    if (step.kind != step_kind::view) ++totals_.launches;
    totals_.operations = saturating_sum(totals_.operations, step.operations);
    totals_.bytes = saturating_sum(totals_.bytes, step.bytes());
    ++to_.step_count;
  }
  constexpr plan_step& next_step() {
    return to_.step_count < to_.max_steps ? to_.steps[to_.step_count] : spare_;
  }
  constexpr void copy_step(step_kind kind, int value, int origin, int from, sized const& count,
                           std::int64_t temporary) {
    plan_step& step = begin_step(kind, value, origin);
    read(step, from);
    charge_read(step, count, at(from).type);
    charge_write(step, count, at(from).type);
    step.temporary_bytes = temporary;
    end_step(step);
  }

  // --- defined in plan/planned_values.hpp -----------------------------------------------------
  constexpr void evaluate(int id);
  constexpr void compute(int id);
  constexpr void evaluate_inputs(int id);
  constexpr void reduce(int id);
  constexpr void run_kernel(int id);
  constexpr std::int64_t pack_operand(int id, int origin);
  constexpr void allocate_over(int y, int x);
  constexpr bool is_result_free(int x) const;
  constexpr void run_attention(int id);
  constexpr bool is_attention_input(int id) const;
  constexpr void allocate_like(int y, int x);

  // --- defined in plan/planned_regions.hpp ----------------------------------------------------
  constexpr bool walk(planned_region& r, int root, int& cut);
  constexpr void collect(planned_region& r, int root);
  constexpr bool prepare(planned_region& r, int root);
  constexpr bool fold(planned_region const& r, int root, bool& changed);
  constexpr planned_chain follow(planned_region const& r, planned_region::entry const& source);
  constexpr int taker(planned_region const& r, int value, int& operand) const;
  constexpr bool extend(planned_chain& c, planned_region const& r, int next, int operand) const;
  constexpr bool can_take_over(planned_region::entry const& source, int root) const;
  constexpr void run_region(planned_region const& r, int root);
  constexpr void note_fused(plan_step& step, planned_region const& r);
  constexpr bool vjp_needs_input(int value, int operand) const;

  // --- defined in plan/planned_contractions.hpp -----------------------------------------------
  constexpr bool takes_epilogue(int id) const;
  constexpr void run_chain(planned_chain const& c);
  constexpr void contract(int id);
  constexpr void contract_into(planned_chain const& c, std::uint8_t const* result, int rank);
  constexpr contraction_tensor operand_by_index(statement_contraction const& rule, int g,
                                                layout order, bool drop_ones) const;
  constexpr contraction_request request_of(planned_chain const& c, std::uint8_t const* result,
                                           int rank) const;
  constexpr bool look(int id, int owner, contraction_tensor const& from);
  constexpr sized operand_elements(int id, int g) const;
  constexpr sized product_over(int contraction, std::uint32_t ids) const;
  constexpr void note_epilogue(plan_step& step, planned_chain const& c);
  constexpr bool merges(planned_chain const& c, contraction_plan const& plan, int added) const;

  statement const& s_;
  live_values live_;
  frame* frames_;
  plan_record& to_;
  plan_totals totals_;
  plan_step spare_;
};

}  // namespace ricci::detail

// The definitions, a subject a file.
#include <ricci/plan/planned_contractions.hpp>
#include <ricci/plan/planned_regions.hpp>
#include <ricci/plan/planned_values.hpp>
