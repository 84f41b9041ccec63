#pragma once

#include <bit>
#include <cstdint>

#include <ricci/tensor/layout.hpp>
#include <ricci/tensor/pattern_spec.hpp>

/// In which order an einsum of several operands contracts them, two at a time. Plain data: index
/// ids are bits of a mask, as in contraction_plan; the same functions at compile and at run time.
namespace ricci {

/// Numbers of operations and of elements, which pass 2^63 where extents are large: exact below
/// 2^120, that from there on.
__extension__ typedef unsigned __int128 order_count;

/// What is left to contract while an order is followed: each value's indices, the result of a pair
/// going to the end, as in NumPy's einsum_path.
struct remaining_operands {
  std::uint32_t result = 0;
  int count = 0;
  std::uint32_t mask[graph::max_operands] = {};

  constexpr remaining_operands(std::uint32_t const* operands, int n, std::uint32_t kept_last)
      : result(kept_last), count(n) {
    for (int i = 0; i < n; ++i) mask[i] = operands[i];
  }
  /// The indices that the product of those at i and j keeps: what any other value or the result
  /// has.
  constexpr std::uint32_t kept(int i, int j) const {
    std::uint32_t needed = result;
    for (int other = 0; other < count; ++other)
      if (other != i && other != j) needed |= mask[other];
    return (mask[i] | mask[j]) & needed;
  }
  constexpr void contract(int i, int j) {
    std::uint32_t const product = kept(i, j);
    int to = 0;
    for (int from = 0; from < count; ++from)
      if (from != i && from != j) mask[to++] = mask[from];
    mask[to++] = product;
    count = to;
  }
};

/// What an order costs; compared by operations, then by the largest intermediate.
struct order_cost {
  order_count operations = 0;  // for each pair the product of the extents of all its indices
  order_count largest = 0;     // elements of the largest intermediate, 0 where there is none

  friend constexpr bool operator==(order_cost const&, order_cost const&) = default;
  friend constexpr bool operator<(order_cost const& x, order_cost const& y) {
    return x.operations != y.operations ? x.operations < y.operations : x.largest < y.largest;
  }
};

/// The order of a contraction: pairs of positions in what is left (remaining_operands), the lower
/// one first.
struct contraction_order {
  bool fits = false;  // false: no order was found whose intermediates have at most max_rank axes
  int positions = 0;  // 2 * (operands - 1)
  std::int8_t position[2 * (graph::max_operands - 1)] = {};
  order_cost cost;
};

/// From so many operands on the order is found greedily.
inline constexpr int most_exhaustive = 8;

namespace detail {

constexpr order_count saturated_product(order_count a, order_count b) {
  constexpr order_count most = order_count{1} << 120;
  constexpr order_count small = order_count{1} << 60;
  if (a < small && b < small) return a * b;
  if (a == 0 || b == 0) return 0;
  return a > most / b ? most : a * b;
}

/// The product of the extents of any set of indices: four ids a table.
class index_products {
 public:
  constexpr index_products(std::uint32_t used, std::int64_t const* extents) {
    for (int t = 0; t < 8; ++t) {
      std::uint32_t const here = used >> (4 * t) & 15;
      if (here == 0) continue;
      table_[t][0] = 1;
      for (std::uint32_t ids = 1; ids < 16; ++ids) {
        int const id = std::countr_zero(ids);
        order_count const without = table_[t][ids & (ids - 1)];
        bool const is_used = here >> id & 1;
        std::uint64_t const extent =
            is_used ? static_cast<std::uint64_t>(extents[4 * t + id]) : std::uint64_t{1};
        table_[t][ids] = saturated_product(without, extent);
      }
    }
  }
  constexpr order_count operator()(std::uint32_t ids) const {
    order_count product = 1;
    for (int t = 0; ids != 0; ++t, ids >>= 4)
      if ((ids & 15) != 0) product = saturated_product(product, table_[t][ids & 15]);
    return product;
  }

 private:
  order_count table_[8][16];
};

/// The best way to contract one set of operands; no initializers, since few of a table are used.
struct order_entry {
  order_count operations;
  order_count largest;
  std::uint32_t kept;   // indices of its value
  std::uint16_t right;  // the operands of one of the two values that make it; 0: no order fits
};

/// The cheapest order over all binary trees: each set of operands from its best two parts.
///   Memory  table: 2^count entries
///   Cost    (3^count) / 2 pairs of sets
class order_search {
 public:
  constexpr order_search(remaining_operands const& operands, index_products const& size,
                         order_entry* table)
      : operands_(operands), size_(size), table_(table) {}

  constexpr contraction_order run() {
    std::uint32_t const all = (std::uint32_t{1} << operands_.count) - 1;
    for (std::uint32_t set = 1; set <= all; ++set) {
      std::uint32_t own = 0;
      std::uint32_t needed = operands_.result;
      for (int i = 0; i < operands_.count; ++i) (set >> i & 1 ? own : needed) |= operands_.mask[i];
      order_entry& entry = table_[set];
      entry = {};
      bool const is_one = (set & (set - 1)) == 0;
      entry.kept = is_one ? own : own & needed;
      if (is_one) continue;
      if (set == all || std::popcount(entry.kept) <= max_rank) split(set, entry, set == all);
    }
    order_.fits = all == 1 || table_[all].right != 0;
    if (!order_.fits) return order_;
    order_.cost = {table_[all].operations, table_[all].largest};
    for (int i = 0; i < operands_.count; ++i) left_[i] = std::uint32_t{1} << i;
    left_count_ = operands_.count;
    emit(all);
    return order_;
  }

 private:
  // Over all parts in two; the highest operand alone first, so that equal costs give the order of
  // the text.
  constexpr void split(std::uint32_t set, order_entry& entry, bool is_last) {
    std::uint32_t const high = std::bit_floor(set);
    std::uint32_t const rest = set ^ high;
    order_count const own = is_last ? 0 : size_(entry.kept);
    std::uint32_t more = 0;
    do {
      std::uint32_t const right = high | more;
      order_entry const& a = table_[set ^ right];
      order_entry const& b = table_[right];
      more = (more - rest) & rest;
      if (!exists(set ^ right, a) || !exists(right, b)) continue;
      order_count operations = a.operations + b.operations;
      if (entry.right != 0 && operations > entry.operations) continue;
      operations += size_(a.kept | b.kept);
      if (entry.right != 0 && operations > entry.operations) continue;
      order_count largest = own;
      if (a.largest > largest) largest = a.largest;
      if (b.largest > largest) largest = b.largest;
      if (entry.right != 0 && operations == entry.operations && largest >= entry.largest) continue;
      entry.operations = operations;
      entry.largest = largest;
      entry.right = static_cast<std::uint16_t>(right);
    } while (more != rest);
  }
  static constexpr bool exists(std::uint32_t set, order_entry const& entry) {
    return entry.right != 0 || (set & (set - 1)) == 0;
  }
  constexpr void emit(std::uint32_t set) {
    if ((set & (set - 1)) == 0) return;
    std::uint32_t const right = table_[set].right;
    emit(set ^ right);
    emit(right);
    int to = 0;
    for (int i = 0; i < left_count_; ++i) {
      if ((left_[i] & set) == 0)
        left_[to++] = left_[i];
      else
        order_.position[order_.positions++] = static_cast<std::int8_t>(i);
    }
    left_[to++] = set;
    left_count_ = to;
  }

  remaining_operands const& operands_;
  index_products const& size_;
  order_entry* table_;
  std::uint32_t left_[graph::max_operands] = {};
  int left_count_ = 0;
  contraction_order order_;
};

/// At each step the pair of the fewest operations; of equal ones the pair whose two values exceed
/// their product by most elements; then the first.
constexpr contraction_order greedy_order(remaining_operands left, index_products const& size) {
  contraction_order order;
  while (left.count > 1) {
    int first = -1;
    int second = -1;
    order_count fewest = 0;
    order_count before = 0;  // elements of the best pair, and of its product
    order_count after = 0;
    for (int j = 1; j < left.count; ++j)
      for (int i = 0; i < j; ++i) {
        order_count const operations = size(left.mask[i] | left.mask[j]);
        if (first >= 0 && operations > fewest) continue;
        std::uint32_t const kept = left.kept(i, j);
        if (left.count > 2 && std::popcount(kept) > max_rank) continue;
        order_count const from = size(left.mask[i]) + size(left.mask[j]);
        order_count const to = size(kept);
        if (first >= 0 && operations == fewest && from + after <= before + to) continue;
        first = i;
        second = j;
        fewest = operations;
        before = from;
        after = to;
      }
    if (first < 0) return {};
    order.position[order.positions++] = static_cast<std::int8_t>(first);
    order.position[order.positions++] = static_cast<std::int8_t>(second);
    order.cost.operations += fewest;
    if (left.count > 2 && after > order.cost.largest) order.cost.largest = after;
    left.contract(first, second);
  }
  order.fits = true;
  return order;
}

}  // namespace detail

/// What a given order costs.
///   @pre  count - 1 pairs of different positions that exist
constexpr order_cost cost_of_order(std::uint32_t const* operands, int count, std::uint32_t result,
                                   std::int64_t const* extents, std::int8_t const* position) {
  remaining_operands left(operands, count, result);
  std::uint32_t used = result;
  for (int i = 0; i < count; ++i) used |= operands[i];
  detail::index_products const size(used, extents);
  order_cost cost;
  for (; left.count > 1; position += 2) {
    cost.operations += size(left.mask[position[0]] | left.mask[position[1]]);
    left.contract(position[0], position[1]);
    order_count const elements = left.count > 1 ? size(left.mask[left.count - 1]) : 0;
    if (elements > cost.largest) cost.largest = elements;
  }
  return cost;
}

/// The order in which operands are contracted, from their indices and the extents.
///   Value   to most_exhaustive operands the cheapest of all binary trees; beyond, greedily: the
///           fewest operations first, then the largest reduction of size
///   Axes    operands[i], result: bit id stands for index id; extents: by id
///   @pre    1 <= count <= graph::max_operands; the extents of all indices used are >= 0
///   @post   fits => positions == 2 * (count - 1), all intermediates have at most max_rank axes
///   Cost    (3^count) / 2 pairs of sets to eight operands (six: 2 us, eight: 20 us), then
///           count^3 / 6 pairs; indices that one operand alone has and the result lacks go with
///           its first pair
constexpr contraction_order plan_order(std::uint32_t const* operands, int count,
                                       std::uint32_t result, std::int64_t const* extents) {
  remaining_operands const left(operands, count, result);
  std::uint32_t used = result;
  for (int i = 0; i < count; ++i) used |= operands[i];
  detail::index_products const size(used, extents);
  if (count > most_exhaustive) return detail::greedy_order(left, size);
  detail::order_entry table[1 << most_exhaustive];
  return detail::order_search(left, size, table).run();
}

/// The order of the axes of an intermediate: what both operands have, then what each has alone, in
/// its own order: first the operand that has the lowest id of them.
///   @post  the numbers written are the bits of `kept`, each once; @return how many
constexpr int intermediate_axes(std::int8_t const* a, int a_size, std::int8_t const* b, int b_size,
                                std::uint32_t kept, std::int8_t* axes) {
  std::uint32_t in_a = 0;
  std::uint32_t in_b = 0;
  for (int i = 0; i < a_size; ++i) in_a |= std::uint32_t{1} << a[i];
  for (int i = 0; i < b_size; ++i) in_b |= std::uint32_t{1} << b[i];
  int count = 0;
  auto const append = [&](std::int8_t const* ids, int size, std::uint32_t wanted) {
    for (int i = 0; i < size; ++i) {
      if (!(wanted >> ids[i] & 1)) continue;
      wanted &= ~(std::uint32_t{1} << ids[i]);
      axes[count++] = ids[i];
    }
  };
  std::uint32_t const only_a = kept & in_a & ~in_b;
  std::uint32_t const only_b = kept & in_b & ~in_a;
  append(a, a_size, kept & in_a & in_b);
  bool const a_first = only_b == 0 || std::countr_zero(only_a) < std::countr_zero(only_b);
  if (a_first) append(a, a_size, only_a);
  append(b, b_size, only_b);
  if (!a_first) append(a, a_size, only_a);
  return count;
}

}  // namespace ricci
