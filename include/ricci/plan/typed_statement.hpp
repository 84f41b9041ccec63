#pragma once

#include <ricci/expr/attention.hpp>
#include <ricci/expr/broadcast.hpp>
#include <ricci/expr/convert.hpp>
#include <ricci/expr/create.hpp>
#include <ricci/expr/joins.hpp>
#include <ricci/expr/losses.hpp>
#include <ricci/expr/norm.hpp>
#include <ricci/expr/pointwise.hpp>
#include <ricci/expr/rearrange.hpp>
#include <ricci/expr/reduce.hpp>
#include <ricci/expr/softmax.hpp>
#include <ricci/plan/pattern_words.hpp>

/// A statement from an expression's type: each word adds the values that src/graph makes for it.
///   Value   what the graph of the same expression says, but that operands of one type are taken
///           for different tensors, and tensors for evaluated ones that others hold too
namespace ricci::detail {

/// The result of an operation, as plain data.
struct described_node {
  dtype type;
  axis_info const* const* axes;
  int rank;
};

constexpr dtype kernel_type(dtype type) {
  return type == dtype::f8_e4m3 || type == dtype::f8_e5m2 ? dtype::f32 : type;
}

/// word<Op>: the most values that it makes, and how they are made.
template <class Op> struct word;

template <opcode Op> struct word<pointwise_op<Op>> {
  static constexpr int most = 1;
  static constexpr int add(statement_builder& b, int const* x, int count, described_node const&) {
    return b.pointwise(Op, x, count);
  }
};
template <class To> struct word<convert_op<To>> {
  static constexpr int most = 1;
  static constexpr int add(statement_builder& b, int const* x, int, described_node const& y) {
    return b.convert(x[0], y.type);
  }
};
template <> struct word<outer_op> {
  static constexpr int most = 2;
  static constexpr int add(statement_builder& b, int const* x, int, described_node const& y) {
    int const wide =
        b.view(view_step::broadcast, x[1], y.axes, y.rank, b.value(x[0]).rank, 0, nullptr, x[0]);
    int const operands[2] = {wide, x[0]};
    return b.pointwise(opcode::multiply, operands, 2);
  }
};
template <> struct word<iota_op> {
  static constexpr int most = 2;
  static constexpr int add(statement_builder& b, int const*, int, described_node const& y) {
    dtype const type = is_integer(y.type) ? y.type : dtype::i64;
    int const id = b.make(value_kind::pointwise, type, y.axes, y.rank, nullptr, 0);
    b.value(id).op = static_cast<std::uint8_t>(opcode::index);
    for (int i = 0; i < y.rank; ++i) b.set_extent(id, i, b.extent_by_type(y.axes[i]));
    return b.convert(id, y.type);
  }
};

// --- views ---------------------------------------------------------------------------------------
template <layout L, view_step Step, int Axis, int Second>
struct word<viewed_op<L, Step, Axis, Second>> {
  static constexpr int most = 1;
  static constexpr int add(statement_builder& b, int const* x, int, described_node const& y) {
    std::int8_t permutation[max_rank] = {};
    if (Step == view_step::permute)
      for (int i = 0; i < y.rank; ++i)
        permutation[i] = static_cast<std::int8_t>(find_axis(b.value(x[0]).axes, y.rank, y.axes[i]));
    return b.view(Step, x[0], y.axes, y.rank, Axis, Second, permutation);
  }
};

// --- patterns ------------------------------------------------------------------------------------
template <ricci::word W, std::uint64_t... Code> struct word<pattern_op<W, Code...>> {
  static constexpr int most = graph::max_operands;
  static constexpr read_pattern read(int operands) {
    std::uint64_t const words[] = {Code..., 0};
    return {words, sizeof...(Code), operands, W == ricci::word::einsum};
  }
  static constexpr int add(statement_builder& b, int const* x, int count, described_node const& y) {
    if constexpr (W == ricci::word::einsum)
      return einsum_value(b, read(count), x, y.axes);
    else
      return one_pattern(b, read(1), x[0], y.axes, W == ricci::word::rearrange);
  }
};
template <layout L, class Pattern> struct word<rearranged_op<L, Pattern>> : word<Pattern> {};

template <class Op, class Pattern> struct word<pattern_reduce_op<Op, Pattern>> {
  static constexpr int most = 3;
  static constexpr int add(statement_builder& b, int const* x, int, described_node const& y) {
    return reduce_by_pattern(b, reduction_kind<Op>(), word<Pattern>::read(1), x[0], y.axes, y.type);
  }
};
template <class Op, std::uint32_t Axes> struct word<reduce_op<Op, Axes>> {
  static constexpr int most = 1;
  static constexpr int add(statement_builder& b, int const* x, int, described_node const& y) {
    return reduced_value(b, Op::kind, x[0], Axes, y.axes, y.type);
  }
};

// --- operations with a kernel of their own -------------------------------------------------------
constexpr int along_axis(statement_builder& b, value_kind kind, int x, int axis) {
  dtype const own = b.value(x).type;
  int const in = b.convert(x, kernel_type(own));
  return b.convert(b.like(kind, in, &in, 1, axis), own);
}
template <int Axis> struct word<softmax_op<Axis>> {
  static constexpr int most = 3;
  static constexpr int add(statement_builder& b, int const* x, int, described_node const&) {
    return along_axis(b, value_kind::softmax, x[0], Axis);
  }
};
template <int Axis> struct word<log_softmax_op<Axis>> {
  static constexpr int most = 3;
  static constexpr int add(statement_builder& b, int const* x, int, described_node const&) {
    return along_axis(b, value_kind::log_softmax, x[0], Axis);
  }
};
template <int Axis> struct word<cumsum_op<Axis>> {
  static constexpr int most = 1;
  static constexpr int add(statement_builder& b, int const* x, int, described_node const& y) {
    int const id = b.like(value_kind::cumsum, x[0], x, 1, Axis);
    b.value(id).type = y.type;
    return id;
  }
};

constexpr int norm_of(statement_builder& b, value_kind kind, int const* x, int count, int axis,
                      described_node const& y) {
  dtype const own = b.value(x[0]).type;
  dtype const type = kernel_type(own);
  int inputs[3] = {b.convert(x[0], type)};
  bool const is_last = axis == y.rank - 1;
  std::int8_t back[max_rank] = {};
  if (!is_last) {
    std::int8_t order[max_rank] = {};
    for (int i = 0; i < y.rank; ++i) {
      order[i] = static_cast<std::int8_t>(i == y.rank - 1 ? axis : i < axis ? i : i + 1);
      back[order[i]] = static_cast<std::int8_t>(i);
    }
    inputs[0] = b.permute(inputs[0], b.axes_with_last(inputs[0], axis), order);
  }
  for (int i = 1; i < count; ++i) inputs[i] = b.convert(x[i], type);
  int const result = b.like(kind, inputs[0], inputs, count, y.rank - 1);
  return b.convert(is_last ? result : b.permute(result, y.axes, back), own);
}
template <int Axis> struct word<layer_norm_op<Axis>> {
  static constexpr int most = 7;
  static constexpr int add(statement_builder& b, int const* x, int count, described_node const& y) {
    return norm_of(b, value_kind::layer_norm, x, count, Axis, y);
  }
};
template <int Axis> struct word<rms_norm_op<Axis>> {
  static constexpr int most = 6;
  static constexpr int add(statement_builder& b, int const* x, int count, described_node const& y) {
    return norm_of(b, value_kind::rms_norm, x, count, Axis, y);
  }
};

template <int Axis> struct word<cross_entropy_op<Axis>> {
  static constexpr int most = 5;
  static constexpr int add(statement_builder& b, int const* x, int, described_node const& y) {
    dtype const own = b.value(x[0]).type;
    dtype const type = kernel_type(own);
    std::int8_t same[max_rank] = {};
    for (int i = 0; i < y.rank; ++i) same[i] = static_cast<std::int8_t>(i);
    int const logits = b.convert(x[0], type);
    int const targets = b.permute(b.aligned(x[1], y.axes, y.rank), y.axes, same);
    int const inputs[2] = {logits, targets};
    int const id = b.make(value_kind::cross_entropy, type, y.axes, y.rank, inputs, 2);
    b.value(id).axis = Axis;
    for (int i = 0; i < y.rank; ++i) b.set_extent(id, i, b.extent(logits, i < Axis ? i : i + 1));
    return b.convert(id, own);
  }
};

template <int Query, int D> struct word<attention_op<Query, D>> {
  static constexpr int most = 8;
  static constexpr int add(statement_builder& b, int const* x, int, described_node const& y) {
    dtype const own = b.value(x[0]).type;
    // [batch..., query or key, features]
    axis_info const** const queries = b.new_axes(y.rank);
    axis_info const** const keys = b.new_axes(y.rank);
    int batch = 0;
    for (int i = 0; i < y.rank; ++i)
      if (i != Query && i != D) queries[batch++] = y.axes[i];
    queries[batch] = y.axes[Query];
    queries[batch + 1] = y.axes[D];
    for (int i = 0; i < y.rank; ++i) keys[i] = queries[i];
    statement_value const& k = b.value(x[1]);
    for (int i = 0; i < k.rank; ++i) {
      int const at = find_axis(queries, y.rank, k.axes[i]);
      if (at < 0 || at == batch) keys[batch] = k.axes[i];
    }
    int inputs[3] = {};
    for (int i = 0; i < 3; ++i)
      inputs[i] = b.convert(b.aligned(x[i], i == 0 ? queries : keys, y.rank), kernel_type(own));
    int const id = b.like(value_kind::attention, inputs[0], inputs, 3, batch);
    return b.aligned(b.convert(id, own), y.axes, y.rank);
  }
};

// --- gathers and joins
// -----------------------------------------------------------------------------
template <int Axis> struct word<take_op<Axis>> {
  static constexpr int most = 1;
  static constexpr int add(statement_builder& b, int const* x, int, described_node const& y) {
    int const id = b.make(value_kind::take, y.type, y.axes, y.rank, x, 2);
    b.value(id).axis = Axis;
    int const ids = b.value(x[1]).rank;
    for (int i = 0; i < y.rank; ++i)
      b.set_extent(id, i,
                   i < Axis         ? b.extent(x[0], i)
                   : i < Axis + ids ? b.extent(x[1], i - Axis)
                                    : b.extent(x[0], i - ids + 1));
    return id;
  }
};
template <int Axis> struct word<concat_op<Axis>> {
  static constexpr int most = 1;
  static constexpr int add(statement_builder& b, int const* x, int count, described_node const& y) {
    return b.join(x, count, Axis, y.type, y.axes, y.rank, false);
  }
};
template <> struct word<stack_op> {
  static constexpr int most = 1;
  static constexpr int add(statement_builder& b, int const* x, int count, described_node const& y) {
    return b.join(x, count, 0, y.type, y.axes, y.rank, true);
  }
};

// --- expressions
// -------------------------------------------------------------------------------------
/// How much room a statement takes at most.
struct statement_room {
  int values = 0;
  int inputs = 0;
  int extents = 0;
  int contractions = 0;

  friend constexpr statement_room operator+(statement_room a, statement_room const& b) {
    a.values += b.values;
    a.inputs += b.inputs;
    a.extents += b.extents;
    a.contractions += b.contractions;
    return a;
  }
};

template <class E> struct typed_value;
template <class T> struct typed_value<number<T>> {
  static constexpr statement_room room{1, 0, 0, 0};
  static constexpr int add(statement_builder& b) { return b.number(dtype_of<T>); }
};
template <class E>
  requires(!E::is_expression)
struct typed_value<E> {
  static constexpr statement_room room{1, 0, E::rank, 0};
  static constexpr int add(statement_builder& b) {
    return b.leaf(dtype_of<typename E::element_type>, E::axes, E::rank, layout_of<E>());
  }
};

template <class Op> inline constexpr bool is_pattern_word = false;
template <ricci::word W, std::uint64_t... Code>
inline constexpr bool is_pattern_word<pattern_op<W, Code...>> = true;
template <layout L, class P> inline constexpr bool is_pattern_word<rearranged_op<L, P>> = true;
template <class Op, class P> inline constexpr bool is_pattern_word<pattern_reduce_op<Op, P>> = true;
template <class E> constexpr int rank_or_zero() {
  if constexpr (is_node<E>)
    return E::rank;
  else
    return 0;
}

template <class Op, class Node, class... X> struct typed_value<expression<Op, Node, X...>> {
  static constexpr statement_room own() {
    constexpr int count = sizeof...(X);
    constexpr bool by_pattern = is_pattern_word<Op>;
    // An einsum of n operands is n - 1 contractions; operands may be aligned first.
    constexpr int steps = !by_pattern ? word<Op>::most + count : count < 2 ? 3 : count - 1;
    int rank = Node::rank;
    ((rank = rank_or_zero<X>() > rank ? rank_or_zero<X>() : rank), ...);
    if (by_pattern && steps > 1) rank = max_rank;
    return {steps, steps + 3 * count + 3, (steps + 2) * rank, by_pattern ? steps : 0};
  }
  static constexpr statement_room room = (own() + ... + typed_value<X>::room);
  static constexpr int add(statement_builder& b) {
    int const operands[sizeof...(X) + 1] = {typed_value<X>::add(b)..., 0};
    described_node const result{dtype_of<typename Node::element_type>, Node::axes, Node::rank};
    return word<Op>::add(b, operands, sizeof...(X), result);
  }
};

// --- dynamic axes
// --------------------------------------------------------------------------------------
template <class Known, class A> struct with_axis {
  using type = Known;
};
template <class... K, class A>
  requires(A::static_extent < 0 && !(same<K, A> || ...))
struct with_axis<pack<K...>, A> {
  using type = pack<K..., A>;
};
template <class Known, class Axes> struct with_axes {
  using type = Known;
};
template <class Known, class A, class... Rest> struct with_axes<Known, pack<A, Rest...>>
    : with_axes<typename with_axis<Known, A>::type, pack<Rest...>> {};

/// The dynamic axes in an expression: operands' first.
template <class Known, class E> struct symbols_of {
  using type = Known;
};
template <class Known, class E>
  requires(is_node<E> && !E::is_expression)
struct symbols_of<Known, E> : with_axes<Known, typename E::axes_type> {};
template <class Known, class... X> struct symbols_of_all {
  using type = Known;
};
template <class Known, class X0, class... X> struct symbols_of_all<Known, X0, X...>
    : symbols_of_all<typename symbols_of<Known, X0>::type, X...> {};
template <class Known, class Op, class Node, class... X>
struct symbols_of<Known, expression<Op, Node, X...>>
    : with_axes<typename symbols_of_all<Known, X...>::type, typename Node::axes_type> {};

/// A statement with the arrays that it needs.
template <class E> struct typed_statement {
  using symbols = typename symbols_of<pack<>, E>::type;
  static_assert(symbols::size <= max_symbols);  // plan_rule
  static constexpr statement_room room = typed_value<E>::room;

  statement_value values[room.values];
  int inputs[room.inputs + 1]{};
  std::int64_t extents[room.extents + 1]{};
  monomial terms[room.extents + 1];
  axis_info const* axes[room.extents + 1]{};
  statement_contraction contractions[room.contractions + 1];
  monomial index_terms[(room.contractions + 1) * max_indices];
  statement_storage storages[room.values];
  statement s;

  /// values  the extents of `symbols`; nominal_extent where there are none
  constexpr explicit typed_statement(std::int64_t const* values_of_symbols = nullptr) {
    s.values = values;
    s.inputs = inputs;
    s.extents = extents;
    s.terms = terms;
    s.axes = axes;
    s.contractions = contractions;
    s.index_terms = index_terms;
    s.storages = storages;
    constexpr axes_list list = axes_in<symbols>;
    statement_builder b(s, list.axes, list.rank, values_of_symbols);
    int const root = typed_value<E>::add(b);
    ++values[root].references;
    s.root_value = root;
  }
  typed_statement(typed_statement const&) = delete;
};

}  // namespace ricci::detail
