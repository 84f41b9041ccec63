#pragma once

#include <cstdint>

namespace ricci {

/// How an axis lies in memory, relative to the next faster one.
///   dense      stride = extent of the next axis * its stride; of the fastest axis: 1
///   gap        the stride is a number known at run time, of either sign
///   broadcast  stride 0; the axis stands outside the order in memory
///   reversed   the stride is negative (of either sign after the diagonal of a reversed axis)
enum class link : std::uint8_t { dense, gap, broadcast, reversed };

/// The largest number of axes that a tensor or a view has.
inline constexpr int max_rank = 24;

/// What is known about the strides of a view while compiling: the order of its axes in memory,
/// slowest first, and each one's link. A layout only decides; the strides stand beside the pointer.
///   Memory  five integers; equal layouts have equal members, so it may be a template argument
///   Source  the order of a packed tensor, rewritten by each view operation below
struct layout {
  std::uint8_t rank = 0;
  std::uint8_t ordered = 0;      // axes that stand in the order: all that are not broadcast
  std::uint64_t order_low = 0;   // places 0 to 11 of the order, 5 bits an axis, slowest lowest
  std::uint64_t order_high = 0;  // places 12 to 23
  std::uint64_t links = 0;       // 2 bits an axis, axis 0 lowest

  /// The layout of a new tensor: row-major, without gaps.
  ///   @pre  0 <= rank <= max_rank
  ///   @post is_packed(result)
  static constexpr layout packed(int rank);

  /// The layout of strides of which nothing is known.
  ///   @pre  0 <= rank <= max_rank
  ///   @post for all p, q: not can_merge(result, p, q)
  static constexpr layout strided(int rank);

  /// The axis at a place of the order in memory.
  ///   @pre  0 <= place < ordered
  constexpr int axis_at(int place) const {
    std::uint64_t const word = place < 12 ? order_low : order_high;
    return static_cast<int>(word >> (5 * (place < 12 ? place : place - 12)) & 31);
  }

  /// The link of an axis.
  ///   @pre  0 <= axis < rank
  constexpr link link_of(int axis) const { return static_cast<link>(links >> (2 * axis) & 3); }

  /// The place of an axis in the order in memory, -1 for a broadcast axis.
  ///   @pre  0 <= axis < rank
  constexpr int place_of(int axis) const {
    for (int place = 0; place < ordered; ++place)
      if (axis_at(place) == axis) return place;
    return -1;
  }

  /// Puts an axis behind all others in the order; for building layouts.
  ///   @pre  axis stands nowhere in the order
  constexpr void push(int axis, link l) {
    set_link(axis, l);
    if (l == link::broadcast) return;
    std::uint64_t const bits = static_cast<std::uint64_t>(axis);
    if (ordered < 12)
      order_low |= bits << (5 * ordered);
    else
      order_high |= bits << (5 * (ordered - 12));
    ++ordered;
  }

  /// Replaces the link of an axis; for building layouts.
  ///   @pre  the axis does not change between broadcast and another link
  constexpr void set_link(int axis, link l) {
    links &= ~(std::uint64_t{3} << (2 * axis));
    links |= static_cast<std::uint64_t>(l) << (2 * axis);
  }

  friend constexpr bool operator==(layout const&, layout const&) = default;
};

constexpr layout layout::packed(int rank) {
  layout result;
  result.rank = static_cast<std::uint8_t>(rank);
  for (int axis = 0; axis < rank; ++axis) result.push(axis, link::dense);
  return result;
}

constexpr layout layout::strided(int rank) {
  layout result;
  result.rank = static_cast<std::uint8_t>(rank);
  for (int axis = 0; axis < rank; ++axis) result.push(axis, link::gap);
  return result;
}

namespace detail {

// The axis before `axis` no longer knows its stride: `axis` changes its extent or stride, or goes.
constexpr layout loosened_before(layout l, int axis) {
  int const place = l.place_of(axis);
  if (place > 0 && l.link_of(l.axis_at(place - 1)) == link::dense)
    l.set_link(l.axis_at(place - 1), link::gap);
  return l;
}

// `l` with every axis a renamed to number(a); number(a) < 0 drops it.
template <class Number> constexpr layout renumbered(layout l, int rank, Number number) {
  layout result;
  result.rank = static_cast<std::uint8_t>(rank);
  for (int place = 0; place < l.ordered; ++place) {
    int const axis = l.axis_at(place);
    if (int const to = number(axis); to >= 0) result.push(to, l.link_of(axis));
  }
  for (int axis = 0; axis < l.rank; ++axis) {
    if (l.link_of(axis) != link::broadcast) continue;
    if (int const to = number(axis); to >= 0) result.set_link(to, link::broadcast);
  }
  return result;
}

}  // namespace detail

/// Do the axes lie in memory as in the tensor's own order, without gaps?
///   @post result == (l == layout::packed(l.rank)): strides[i] = product of extents[i+1 ...]
constexpr bool is_packed(layout const& l) { return l == layout::packed(l.rank); }

/// Does q follow p in memory so that both together are one axis with the stride of q?
///   @pre  p != q, both in [0, rank)
///   @post result => stride(p) = extent(q) * stride(q), whatever the extents
constexpr bool follows(layout const& l, int p, int q) {
  if (l.link_of(p) != link::dense) return false;
  int const place = l.place_of(p);
  return place + 1 < l.ordered && l.axis_at(place + 1) == q && l.link_of(q) != link::reversed;
}

/// May p and q, p the slower, become one axis without a copy?
///   @pre  p != q, both in [0, rank)
///   @post result => stride(p) = extent(q) * stride(q), whatever the extents
constexpr bool can_merge(layout const& l, int p, int q) {
  return follows(l, p, q) || (l.link_of(p) == link::broadcast && l.link_of(q) == link::broadcast);
}

/// Axis i of the result is axis `axes[i]` of `l`.
///   @pre  axes[0 ... rank) is a permutation of 0 ... rank - 1; any type with operator[]
///   @post for all i, j: follows(result, i, j) == follows(l, axes[i], axes[j])
template <class Indices> constexpr layout permuted(layout const& l, Indices const& axes) {
  return detail::renumbered(l, l.rank, [&](int axis) {
    int to = 0;
    while (static_cast<int>(axes[to]) != axis) ++to;
    return to;
  });
}

/// The axis becomes `parts` axes at its place, the slowest first.
///   @pre  parts >= 1, rank + parts - 1 <= max_rank
///   @post merge(result, axis, parts) == l, unless the axis is reversed
constexpr layout split(layout const& l, int axis, int parts) {
  layout result;
  result.rank = static_cast<std::uint8_t>(l.rank + parts - 1);
  for (int place = 0; place < l.ordered; ++place) {
    int const old = l.axis_at(place);
    link const own = l.link_of(old);
    if (old != axis) {
      result.push(old < axis ? old : old + parts - 1, own);
      continue;
    }
    link const inner = own == link::reversed ? own : link::dense;
    for (int part = 0; part < parts; ++part)
      result.push(axis + part, part + 1 < parts ? inner : own);
  }
  for (int old = 0; old < l.rank; ++old) {
    if (l.link_of(old) != link::broadcast) continue;
    for (int part = 0; part < (old == axis ? parts : 1); ++part)
      result.set_link(old <= axis ? old + part : old + parts - 1, link::broadcast);
  }
  return result;
}

/// The axes first ... first + count - 1 become one, at the place of the first.
///   @pre  count >= 1, and can_merge(l, i, i + 1) for each neighbouring pair
///   @post stride of the merged axis = stride of axis first + count - 1
constexpr layout merge(layout const& l, int first, int count) {
  int const last = first + count - 1;
  return detail::renumbered(l, l.rank - count + 1, [&](int axis) {
    if (axis == last) return first;
    if (axis < first) return axis;
    return axis < last ? -1 : axis - count + 1;
  });
}

/// One position of an axis: the axis goes.
///   @post result.rank == l.rank - 1
constexpr layout at(layout const& l, int axis) {
  return detail::renumbered(detail::loosened_before(l, axis), l.rank - 1, [&](int old) {
    if (old == axis) return -1;
    return old < axis ? old : old - 1;
  });
}

/// An axis of extent 1 goes; the axis before it takes its link.
///   @pre  the axis has extent 1
///   @post result.rank == l.rank - 1, and what could merge still can
constexpr layout without_unit_axis(layout l, int axis) {
  int const place = l.place_of(axis);
  if (place > 0 && l.link_of(l.axis_at(place - 1)) == link::dense && l.link_of(axis) != link::reversed)
    l.set_link(l.axis_at(place - 1), l.link_of(axis));
  return detail::renumbered(l, l.rank - 1, [&](int old) {
    if (old == axis) return -1;
    return old < axis ? old : old - 1;
  });
}

/// A part of an axis, every step-th position of it.
///   @pre  step >= 1
///   @post the axis's own link stays where step == 1
constexpr layout sliced(layout const& l, int axis, std::int64_t step = 1) {
  layout result = detail::loosened_before(l, axis);
  if (step != 1 && l.link_of(axis) == link::dense) result.set_link(axis, link::gap);
  return result;
}

/// The axis runs backwards.
///   @post a broadcast axis stays as it was; one reversed twice is a gap
constexpr layout reversed(layout const& l, int axis) {
  link const own = l.link_of(axis);
  if (own == link::broadcast) return l;
  layout result = detail::loosened_before(l, axis);
  result.set_link(axis, own == link::reversed ? link::gap : link::reversed);
  return result;
}

/// The axes p and q run together as one, at the place of p among the axes.
///   @pre  p != q, both in [0, rank)
///   @post stride of the diagonal = stride(p) + stride(q), its link gap; both broadcast: broadcast
constexpr layout diagonal(layout const& l, int p, int q) {
  layout const loose = detail::loosened_before(detail::loosened_before(l, p), q);
  int const place_p = loose.place_of(p);
  int const place_q = loose.place_of(q);
  // The slower of the two stays under the number of p, the other goes.
  bool const q_is_slower = place_p < 0 || (place_q >= 0 && place_q < place_p);
  int const stays = q_is_slower ? q : p;
  int const goes = q_is_slower ? p : q;
  auto const number = [&](int axis) { return axis < q ? axis : axis - 1; };
  layout result = detail::renumbered(loose, l.rank - 1, [&](int axis) {
    if (axis == goes) return -1;
    return number(axis == stays ? p : axis);
  });
  if (place_p >= 0 || place_q >= 0) result.set_link(number(p), link::gap);
  return result;
}

/// `count` new axes of stride 0 stand before all others.
///   @pre  rank + count <= max_rank
///   @post for all i < count: link of axis i is broadcast
constexpr layout broadcast_front(layout const& l, int count) {
  layout result = detail::renumbered(l, l.rank + count, [&](int axis) { return axis + count; });
  for (int axis = 0; axis < count; ++axis) result.set_link(axis, link::broadcast);
  return result;
}

}  // namespace ricci
