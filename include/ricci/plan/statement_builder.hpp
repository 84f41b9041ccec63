#pragma once

#include <ricci/plan/candidates.hpp>
#include <ricci/plan/statement.hpp>

namespace ricci::detail {

/// An extent, or a product of extents: as a number, an assumed one where it depends on dynamic
/// axes, and as what it depends on.
struct sized {
  std::int64_t value = 1;
  monomial term;
};

constexpr std::int64_t common_divisor(std::int64_t a, std::int64_t b) {
  while (b != 0) {
    std::int64_t const rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/// a^power_a * b^power_b, the powers 1 or -1.
constexpr monomial product_of(monomial const& a, monomial const& b, bool divide = false) {
  monomial result;
  std::int64_t const up = divide ? b.denominator : b.numerator;
  std::int64_t const down = divide ? b.numerator : b.denominator;
  result.numerator = saturating_product(a.numerator, up);
  result.denominator = saturating_product(a.denominator, down);
  if (result.denominator != 1 && result.numerator != 0) {
    std::int64_t const common = common_divisor(result.numerator, result.denominator);
    result.numerator /= common;
    result.denominator /= common;
  }
  for (int i = 0; i < max_symbols; ++i)
    result.power[i] = static_cast<std::int8_t>(a.power[i] + (divide ? -b.power[i] : b.power[i]));
  return result;
}
constexpr sized operator*(sized const& a, sized const& b) {
  return {saturating_product(a.value, b.value), product_of(a.term, b.term)};
}
constexpr sized operator/(sized const& a, sized const& b) {
  std::int64_t const quotient = b.value == 0 ? 0 : a.value / b.value;
  return {quotient, product_of(a.term, b.term, true)};
}
constexpr sized size_from(std::int64_t number) { return {number, {number, 1, {}}}; }

constexpr int find_axis(axis_info const* const* axes, int rank, axis_info const* axis) {
  for (int i = 0; i < rank; ++i)
    if (is_same_axis(axes[i], axis)) return i;
  return -1;
}

/// Writes a statement value by value, as src/graph makes them of the words of the language.
///   @pre  the statement's arrays have room
class statement_builder {
 public:
  /// symbols  the dynamic axes; values: their extents, nominal_extent where there is none
  constexpr statement_builder(statement& s, axis_info const* const* symbols, int symbol_count,
                              std::int64_t const* values = nullptr)
      : s_(s), symbols_(symbols), symbol_count_(symbol_count), values_(values) {}

  // --- values ---------------------------------------------------------------------------------
  constexpr int make(value_kind kind, dtype type, axis_info const* const* axes, int rank,
                     int const* inputs, int count) {
    int const id = s_.value_count++;
    statement_value& v = s_.values[id];
    v.kind = kind;
    v.type = type;
    v.axes = axes;
    v.rank = static_cast<std::int8_t>(rank);
    v.first_input = s_.input_count;
    v.inputs = count;
    v.first_extent = s_.extent_count;
    s_.extent_count += rank;
    for (int i = 0; i < count; ++i) {
      s_.inputs[s_.input_count++] = inputs[i];
      ++s_.values[inputs[i]].references;
    }
    return id;
  }
  constexpr void set_extent(int id, int axis, sized const& extent) {
    statement_value& v = s_.values[id];
    s_.extents[v.first_extent + axis] = extent.value;
    s_.terms[v.first_extent + axis] = extent.term;
    v.count = saturating_product(v.count, extent.value);
  }
  constexpr sized extent(int id, int axis) const {
    int const at = s_.values[id].first_extent + axis;
    return {s_.extents[at], s_.terms[at]};
  }
  /// The extent that an axis has by its type.
  constexpr sized extent_by_type(axis_info const* axis) const {
    if (axis->extent >= 0) return size_from(axis->extent);
    int const symbol = find_axis(symbols_, symbol_count_, axis);
    sized result{values_ != nullptr ? values_[symbol] : nominal_extent, {}};
    result.term.power[symbol] = 1;
    return result;
  }

  // A tensor or a view: others hold it too.
  constexpr int leaf(dtype type, axis_info const* const* axes, int rank, layout const& order) {
    int const id = make(value_kind::leaf, type, axes, rank, nullptr, 0);
    statement_value& v = s_.values[id];
    for (int i = 0; i < rank; ++i) set_extent(id, i, extent_by_type(axes[i]));
    v.order = order;
    v.storage = s_.storage_count++;
    v.is_whole_storage = is_packed(order);
    v.references = 1;
    s_.storages[v.storage] = {saturating_product(v.count, size_of(type)), 2, false};
    return id;
  }
  constexpr int number(dtype type) {
    return make(value_kind::number, type, nullptr, 0, nullptr, 0);
  }

  constexpr int pointwise(opcode op, int const* inputs, int count) {
    int largest = 0;
    for (int i = 0; i < count; ++i)
      if (s_.values[inputs[i]].rank > s_.values[inputs[largest]].rank) largest = i;
    statement_value const& like = s_.values[inputs[largest]];
    dtype const type = facts_of(op).gives_boolean
                           ? dtype::boolean
                           : s_.values[inputs[op == opcode::where ? 1 : 0]].type;
    int const id = make(value_kind::pointwise, type, like.axes, like.rank, inputs, count);
    s_.values[id].op = static_cast<std::uint8_t>(op);
    take_extents(id, inputs[largest]);
    return id;
  }
  constexpr int convert(int x, dtype to) {
    statement_value const& from = s_.values[x];
    if (from.type == to) return x;
    int const id = make(value_kind::pointwise, to, from.axes, from.rank, &x, 1);
    s_.values[id].op = static_cast<std::uint8_t>(opcode::convert);
    take_extents(id, x);
    return id;
  }
  /// An operation whose result has the axes and extents of x.
  constexpr int like(value_kind kind, int x, int const* inputs, int count, int axis = 0) {
    statement_value const& from = s_.values[x];
    int const id = make(kind, from.type, from.axes, from.rank, inputs, count);
    s_.values[id].axis = static_cast<std::int8_t>(axis);
    take_extents(id, x);
    return id;
  }

  // --- views ----------------------------------------------------------------------------------
  constexpr int view(view_step what, int x, axis_info const* const* axes, int rank, int axis = 0,
                     int second = 0, std::int8_t const* permutation = nullptr,
                     int extents_of = -1) {
    statement_value const from = s_.values[x];
    if (from.kind == value_kind::number) return x;
    bool const is_leaf = from.kind == value_kind::leaf;
    int const id = make(is_leaf ? value_kind::leaf : value_kind::view, from.type, axes, rank, &x,
                        is_leaf ? 0 : 1);
    statement_value& v = s_.values[id];
    v.op = static_cast<std::uint8_t>(what);
    v.axis = static_cast<std::int8_t>(axis);
    v.second = static_cast<std::int8_t>(second);
    if (permutation != nullptr)
      for (int i = 0; i < rank; ++i) v.permutation[i] = permutation[i];
    for (int i = 0; i < rank; ++i) {
      int const source = source_axis(v, i);
      bool const is_new = source < 0 || (what == view_step::slice && i == axis);
      set_extent(id, i,
                 !is_new          ? extent(x, source)
                 : extents_of < 0 ? extent_by_type(axes[i])
                                  : extent(extents_of, i));
    }
    if (!is_leaf) return id;
    v.order = viewed(v, from.order);
    v.storage = from.storage;
    ++s_.storages[v.storage].references;
    return id;
  }
  constexpr int permute(int x, axis_info const* const* axes, std::int8_t const* permutation) {
    return view(view_step::permute, x, axes, s_.values[x].rank, 0, 0, permutation);
  }
  /// x with its axes in the order of `axes`.
  constexpr int aligned(int x, axis_info const* const* axes, int rank) {
    std::int8_t order[max_rank] = {};
    bool is_same = true;
    for (int i = 0; i < rank; ++i) {
      order[i] = static_cast<std::int8_t>(find_axis(s_.values[x].axes, rank, axes[i]));
      is_same = is_same && order[i] == i;
    }
    return is_same ? x : permute(x, axes, order);
  }

  /// Which axis of its operand is axis i of a view? -1 for a new one.
  static constexpr int source_axis(statement_value const& v, int i) {
    switch (static_cast<view_step>(v.op)) {
      case view_step::permute:
        return v.permutation[i];
      case view_step::at:
        return i < v.axis ? i : i + 1;
      case view_step::diagonal:
        return i < v.second ? i : i + 1;
      case view_step::broadcast:
        return i < v.axis ? -1 : i - v.axis;
      default:
        return i;
    }
  }
  /// The layout of a view of a value of that layout.
  static constexpr layout viewed(statement_value const& v, layout const& from) {
    switch (static_cast<view_step>(v.op)) {
      case view_step::permute:
        return permuted(from, v.permutation);
      case view_step::at:
        return ricci::at(from, v.axis);
      case view_step::slice:
        return sliced(from, v.axis, v.second > 0 ? 2 : 1);
      case view_step::reverse:
        return reversed(from, v.axis);
      case view_step::diagonal:
        return ricci::diagonal(from, v.axis, v.second);
      case view_step::broadcast:
        return broadcast_front(from, v.axis);
      default:
        return from;
    }
  }

  // --- joins ----------------------------------------------------------------------------------
  /// Operands along an axis, or each at a position of a new axis in front; in operand 1's order.
  constexpr int join(int const* x, int count, int axis, dtype type, axis_info const* const* axes,
                     int rank, bool is_stack) {
    constexpr int most = 128;
    int parts[most] = {};
    statement_value const& first = s_.values[x[0]];
    for (int i = 0; i < count; ++i) parts[i] = aligned(x[i], first.axes, first.rank);
    int const id = make(value_kind::join, type, axes, rank, parts, count);
    s_.values[id].axis = static_cast<std::int8_t>(axis);
    for (int i = 0; i < rank; ++i) {
      if (i != axis)
        set_extent(id, i, extent(parts[0], is_stack ? i - 1 : i));
      else if (is_stack)
        set_extent(id, i, size_from(count));
      else
        set_extent(
            id, i,
            axes[i]->extent >= 0 ? size_from(axes[i]->extent) : sum_of_extents(parts, count, axis));
    }
    return id;
  }

  // --- contractions ---------------------------------------------------------------------------
  /// The extents of the indices of a contraction; where they are not given, they follow from axes.
  struct index_sizes {
    sized of[max_indices];
    bool known[max_indices] = {};
  };
  /// What the axes of an operand say: the product of an axis's factors is its extent.
  ///   is_split  those of several factors, or the others
  constexpr void learn(index_sizes& sizes, indexed_axes const& axes, int value,
                       bool is_split) const {
    for (int axis = 0; axis < axes.rank; ++axis)
      if ((axes.begin[axis + 1] - axes.begin[axis] > 1) == is_split)
        divide(sizes, axes, axis, extent(value, axis));
  }
  /// What the static extents of the result's axes say.
  constexpr void learn_by_type(index_sizes& sizes, indexed_axes const& axes,
                               axis_info const* const* types) const {
    for (int axis = 0; axis < axes.rank; ++axis)
      if (types[axis]->extent >= 0) divide(sizes, axes, axis, extent_by_type(types[axis]));
  }
  /// A dynamic axis of the result of which nothing else tells was given by value.
  constexpr void take_given(index_sizes& sizes, indexed_axes const& axes,
                            axis_info const* const* types) const {
    for (int axis = 0; axis < axes.rank; ++axis)
      if (types[axis]->extent < 0 && divide(sizes, axes, axis, extent_by_type(types[axis]))) return;
  }
  constexpr int contraction(statement_contraction const& rule, index_sizes const& sizes,
                            axis_info const* const* axes, int const* inputs) {
    int const id = make(value_kind::contraction, s_.values[inputs[0]].type, axes, rule.result.rank,
                        inputs, rule.operands);
    int const at = s_.contraction_count++;
    s_.values[id].contraction = at;
    s_.contractions[at] = rule;
    for (int i = 0; i < max_indices; ++i) {
      s_.contractions[at].extent[i] = sizes.of[i].value;
      s_.index_terms[at * max_indices + i] = sizes.of[i].term;
    }
    for (int axis = 0; axis < rule.result.rank; ++axis) {
      sized extent;
      for (int i = rule.result.begin[axis]; i < rule.result.begin[axis + 1]; ++i)
        extent = extent * sizes.of[rule.result.ids[i]];
      set_extent(id, axis, extent);
    }
    return id;
  }

  constexpr void take_extents(int id, int from) {
    for (int i = 0; i < s_.values[id].rank; ++i) set_extent(id, i, extent(from, i));
  }
  constexpr statement_value& value(int id) { return s_.values[id]; }

  /// The axes of x, `axis` last.
  constexpr axis_info const* const* axes_with_last(int x, int axis) {
    axis_info const** const list = s_.axes + s_.axes_count;
    statement_value const& v = s_.values[x];
    s_.axes_count += v.rank;
    for (int i = 0; i < v.rank; ++i)
      list[i] = v.axes[i == v.rank - 1 ? axis : i < axis ? i : i + 1];
    return list;
  }
  constexpr axis_info const** new_axes(int rank) {
    axis_info const** const list = s_.axes + s_.axes_count;
    s_.axes_count += rank;
    return list;
  }

 private:
  // Parts that depend on their axes in different ways: the sum is as its axis, a symbol.
  constexpr sized sum_of_extents(int const* parts, int count, int axis) const {
    sized sum = extent(parts[0], axis);
    for (int i = 1; i < count; ++i) {
      sized const next = extent(parts[i], axis);
      bool is_like = next.term.denominator == sum.term.denominator;
      for (int k = 0; k < max_symbols; ++k)
        is_like = is_like && next.term.power[k] == sum.term.power[k];
      if (!is_like) return extent_by_type(s_.values[parts[0]].axes[axis]);
      sum.value = saturating_sum(sum.value, next.value);
      sum.term.numerator = saturating_sum(sum.term.numerator, next.term.numerator);
    }
    return sum;
  }
  constexpr bool divide(index_sizes& sizes, indexed_axes const& axes, int axis,
                        sized const& whole) const {
    int unknown = -1;
    int unknowns = 0;
    sized product;
    for (int i = axes.begin[axis]; i < axes.begin[axis + 1]; ++i) {
      int const id = axes.ids[i];
      if (sizes.known[id]) {
        product = product * sizes.of[id];
      } else {
        unknown = id;
        ++unknowns;
      }
    }
    if (unknowns != 1) return false;
    sizes.of[unknown] = whole / product;
    sizes.known[unknown] = true;
    return true;
  }
  statement& s_;
  axis_info const* const* symbols_;
  int symbol_count_;
  std::int64_t const* values_;
};

}  // namespace ricci::detail
