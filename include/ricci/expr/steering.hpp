#pragma once

#include <ricci/error/message.hpp>
#include <ricci/plan/candidates.hpp>
#include <ricci/plan/lowering.hpp>
#include <ricci/plan/order.hpp>
#include <ricci/tensor/node.hpp>
#include <ricci/tensor/pattern_spec.hpp>

/// Types after the pattern of an einsum that are not axes: `lowering::...` and `path<...>`.
namespace ricci::detail {

template <class T> inline constexpr bool is_lowering = __is_base_of(lowering::choice, T);
template <class T> inline constexpr bool is_path = false;
template <int... Positions> inline constexpr bool is_path<path<Positions...>> = true;
template <class T> inline constexpr bool is_steering = is_lowering<T> || is_path<T>;

/// What the types after a pattern say, as plain data.
struct steering {
  lowering_code lowering = lowering_code::automatic;
  int lowerings = 0;  // how many stood there
  int paths = 0;
  int const* position = nullptr;
  int positions = 0;
};

template <int... Positions>
inline constexpr int positions_of[sizeof...(Positions) + 1] = {Positions..., 0};
template <int... Positions> constexpr void read_path(steering& s, path<Positions...> const*) {
  s.position = positions_of<Positions...>;
  s.positions = sizeof...(Positions);
  ++s.paths;
}
template <class T> constexpr void read_steering(steering& s) {
  if constexpr (is_lowering<T>) {
    s.lowering = T::code;
    ++s.lowerings;
  } else if constexpr (is_path<T>) {
    read_path(s, static_cast<T const*>(nullptr));
  }
}

/// The types after a pattern taken apart: the axes, and what steers.
template <class Types> struct steered;
template <class... T> struct steered<pack<T...>> {
  static constexpr bool any = false;
  using axes = pack<T...>;
  static constexpr steering how{};
};
template <bool IsSteering, class T> struct kept_axis {
  using type = pack<T>;
};
template <class T> struct kept_axis<true, T> {
  using type = pack<>;
};
template <class... T>
  requires(is_steering<T> || ...)
struct steered<pack<T...>> {
  static constexpr bool any = true;
  using axes = join<typename kept_axis<is_steering<T>, T>::type...>;
  static constexpr steering how = [] {
    steering s;
    (read_steering<T>(s), ...);
    return s;
  }();
};

// --- the path ------------------------------------------------------------------------------------
constexpr message& write_path(message& m, steering const& s) {
  m << "einsum: `path<";
  for (int i = 0; i < s.positions; ++i) {
    if (i > 0) m << ", ";
    m << s.position[i];
  }
  return m << ">`";
}

/// Are the positions pairs of what is left, until one value is?
///   masks  of the operands and the result
constexpr bool path_fits(steering const& s, int operands, std::uint32_t const* masks,
                         message* why) {
  if (s.positions % 2 != 0) {
    if (why) write_path(*why, s) << " has " << s.positions << " positions: they come in pairs";
    return false;
  }
  if (s.positions != 2 * (operands - 1)) {
    if (why) {
      int const pairs = s.positions / 2;
      write_path(*why, s) << " contracts " << pairs << (pairs == 1 ? " pair" : " pairs") << "; "
                          << operands << (operands == 1 ? " operand takes " : " operands take ")
                          << operands - 1;
    }
    return false;
  }
  remaining_operands left(masks, operands, masks[operands]);
  for (int pair = 0; 2 * pair < s.positions; ++pair) {
    int const i = s.position[2 * pair];
    int const j = s.position[2 * pair + 1];
    for (int const position : {i, j}) {
      if (position >= 0 && position < left.count) continue;
      if (why)
        write_path(*why, s) << " names position " << position << " in its pair " << pair + 1
                            << ", where " << left.count << " are left: 0 to " << left.count - 1;
      return false;
    }
    if (i == j) {
      if (why)
        write_path(*why, s) << " names position " << i << " twice in its pair " << pair + 1
                            << ": a pair is two operands, or results of earlier pairs";
      return false;
    }
    int const axes = std::popcount(left.kept(i, j));
    if (left.count > 2 && axes > max_rank) {
      if (why)
        write_path(*why, s) << " leaves " << axes << " axes after its pair " << pair + 1
                            << "; a tensor has at most " << max_rank;
      return false;
    }
    left.contract(i, j);
  }
  return true;
}

constexpr bool has_static_extents(graph::pattern_spec const& spec) {
  for (int id = 0; id < spec.indices; ++id)
    if (spec.extent[id] < 0) return false;
  return true;
}

/// Checks what steers an einsum and writes it behind its groups, or the order that is known to be
/// best.
constexpr bool steer(graph::pattern_spec& spec, steering const& s, message* why) {
  int const operands = spec.operands;
  if (s.lowerings > 1 || s.paths > 1) {
    if (why)
      *why << "einsum: two " << (s.lowerings > 1 ? "lowerings" : "paths")
           << " stand after the pattern: it takes one";
    return false;
  }
  if (s.lowerings > 0 && operands != 2) {
    if (why) {
      *why << "einsum: ";
      why->quote(name_of(s.lowering))
          << " is how two operands are contracted, the call has " << operands;
      if (operands > 2) *why << " (their order is steered by `path<...>`)";
    }
    return false;
  }
  std::uint32_t masks[graph::max_operands + 1]{};
  bool const is_forced = s.paths > 0;
  bool const is_planned = !is_forced && operands > 2 && has_static_extents(spec);
  if (is_forced || is_planned) spec.read_masks(masks);
  if (is_forced && !path_fits(s, operands, masks, why)) return false;
  contraction_order order;
  if (is_planned) order = plan_order(masks, operands, masks[operands], spec.extent);
  if (is_forced && operands > 2) {
    for (int pair = 0; 2 * pair < s.positions; ++pair) {
      int const i = s.position[2 * pair];
      int const j = s.position[2 * pair + 1];
      order.position[order.positions++] = static_cast<std::int8_t>(i < j ? i : j);
      order.position[order.positions++] = static_cast<std::int8_t>(i < j ? j : i);
    }
  }
  int const room = graph::pattern_spec::code_capacity - spec.code_size;
  bool const steers = s.lowerings > 0 || (is_forced && operands > 2);
  if (room < 2 + order.positions) {
    if (!steers) return true;  // read as zeros
    if (why) *why << "einsum: the pattern names too many axes in all to be steered";
    return false;
  }
  spec.code[spec.code_size++] = static_cast<std::int8_t>(s.lowering);
  spec.code[spec.code_size++] = static_cast<std::int8_t>(order.positions);
  for (int i = 0; i < order.positions; ++i) spec.code[spec.code_size++] = order.position[i];
  return true;
}

// --- the lowering --------------------------------------------------------------------------------
/// What is contracted, by elementary index, out of the pattern and the layouts of its operands.
///   @pre   spec has two operands
///   @post  false: an operand or the result has more than max_rank indices
constexpr bool request_of(graph::pattern_spec const& spec, layout const* known, dtype type,
                          contraction_request& r) {
  for (int id = 0; id < spec.indices; ++id)
    r.extent[id] = spec.extent[id] >= 0 ? spec.extent[id] : nominal_extent;
  r.type = r.result_type = type;
  int at = 0;
  for (int g = 0; g < 2; ++g) {
    contraction_tensor t{known[g]};
    int axes = 0;
    for (int rank = spec.code[at++]; rank > 0; --rank) {
      int const factors = spec.code[at++];
      if (t.known.rank + factors - 1 > max_rank) return false;
      if (factors > 1) t.known = split(t.known, axes, factors);
      for (int i = 0; i < factors; ++i)
        t.index[axes++] = static_cast<std::uint8_t>(spec.code[at++]);
    }
    std::int8_t diagonals = 0;
    t = without_diagonals(t, diagonals);
    for (int axis = t.known.rank - 1; axis >= 0; --axis) {
      if (r.extent[t.index[axis]] != 1) continue;
      t.known = without_unit_axis(t.known, axis);
      for (int i = axis; i < t.known.rank; ++i) t.index[i] = t.index[i + 1];
    }
    (g == 0 ? r.a : r.b) = t;
  }
  for (int rank = spec.code[at++]; rank > 0; --rank)
    for (int factors = spec.code[at++]; factors > 0; --factors) {
      int const id = spec.code[at++];
      if (r.extent[id] == 1) continue;
      if (r.result_rank == max_rank) return false;
      r.result[r.result_rank++] = static_cast<std::uint8_t>(id);
    }
  return true;
}

/// Is the lowering among the ways that this contraction of two operands can run?
///   known  the layouts of the operands' types; dynamic axes count as nominal_extent
constexpr bool lowering_fits(graph::pattern_spec const& spec, layout const* known, dtype type,
                             lowering_code wanted, message* why) {
  contraction_request request;
  request.forced = wanted;
  if (!request_of(spec, known, type, request)) return true;
  candidate_list const list = candidates_of(request);
  for (int i = 0; i < list.count; ++i)
    if (list.at[i].code == wanted) return true;
  if (!why) return false;
  *why << "einsum: ";
  why->quote(name_of(wanted)) << " does not fit this contraction of " << name_of(type)
                              << "; it can be lowered by ";
  for (int i = 0; i < list.count; ++i) {
    if (i > 0) *why << ", ";
    why->quote(name_of(list.at[i].code));
  }
  return false;
}

}  // namespace ricci::detail
