#include "kernels/contract/contract.hpp"

#include <optional>
#include <string>
#include <utility>

#include <ricci/error/exceptions.hpp>

#include "kernels/contract/ordered.hpp"
#include "kernels/contract/rows.hpp"
#include "kernels/contract/tiles.hpp"
#include "kernels/copy/copy.hpp"

namespace ricci::kernels {
namespace {

using contraction::integer;

constexpr std::int64_t least_tiled = 1 << 16;

// The same with a and b in each other's place.
contraction_problem exchanged(contraction_problem const& p) {
  static thread_local contraction_axis axes[3 * 32];
  contraction_problem q = p;
  std::swap(q.a, q.b);
  std::swap(q.a_type, q.b_type);
  std::swap(q.m, q.n);
  std::swap(q.ms, q.ns);
  contraction_axis* next = axes;
  for (auto const& [list, count] :
       {std::pair{&q.batch, q.batches}, {&q.m, q.ms}, {&q.n, q.ns}, {&q.k, q.ks}}) {
    contraction_axis* const first = next;
    for (int i = 0; i < count; ++i) {
      *next = (*list)[i];
      std::swap(next->a, next->b);
      ++next;
    }
    *list = first;
  }
  return q;
}

// What runs a problem.
enum class way { nothing, rows, ordered_rows, tiles, turned_tiles, copy_first };

// Is the largest array read or written along its lines once the others lie like it? They are in the
// cache then, or as large.
template <class Acc>
bool is_better_ordered(contraction_problem const& p, contraction::ordered_problem const& ordered) {
  contraction::row_contraction<Acc> const rows(ordered.problem());
  if (p.ks > 0) return rows.reads_lines(ordered.largest() != 1, ordered.largest() != 0);
  return ordered.largest() == 2 && ordered.moves_little() &&
         (rows.reads_lines(true, false) || rows.reads_lines(false, true));
}

template <class Acc> way way_of(contraction_problem const& p,
                                contraction::row_contraction<Acc> const* rows,
                                std::optional<contraction::ordered_problem>& ordered) {
  std::int64_t const m = contraction::size_of_axes(p.m, p.ms);
  std::int64_t const n = contraction::size_of_axes(p.n, p.ns);
  std::int64_t const k = contraction::size_of_axes(p.k, p.ks);
  std::int64_t const batch = contraction::size_of_axes(p.batch, p.batches);
  if (m == 0 || n == 0 || batch == 0) return way::nothing;
  if (m > 1 && n > 1 && k > 1) return way::tiles;
  // Empty sums, what lies well and what the cache holds anyway.
  if (k == 0 || batch * m * n * k < least_tiled || rows->reads_lines()) return way::rows;
  // Element by element: a copy in the result's order, which the product then runs along.
  if (p.ks == 0 && (m == 1 || n == 1) && (n > 1 ? p.b_type : p.a_type) == p.c_type)
    return way::copy_first;
  if (!p.has_epilogue() && is_better_ordered<Acc>(p, ordered.emplace(p))) return way::ordered_rows;
  if (m == 1 && n == 1) return way::rows;
  return n > 1 ? way::tiles : way::turned_tiles;
}

// c = a * b element by element, where b has all axes of c (or a, where `from_a`).
contraction_problem copied_first(contraction_problem const& p, bool from_a,
                                 contraction_axis* axes) {
  std::int64_t extents[max_copy_rank];
  std::int64_t to[max_copy_rank];
  std::int64_t from[max_copy_rank];
  int rank = 0;
  for (auto const& [list, count] : {std::pair{p.batch, p.batches}, {p.m, p.ms}, {p.n, p.ns}})
    for (int i = 0; i < count; ++i) {
      axes[rank] = list[i];
      extents[rank] = list[i].extent;
      to[rank] = list[i].c;
      from[rank] = from_a ? list[i].a : list[i].b;
      (from_a ? axes[rank].a : axes[rank].b) = list[i].c;
      ++rank;
    }
  copy(size_of(p.c_type), rank, extents, p.c, to, from_a ? p.a : p.b, from);
  contraction_problem q = p;
  (from_a ? q.a : q.b) = p.c;
  q.batch = axes;
  q.batches = rank;
  q.ms = q.ns = 0;
  return q;
}

template <class Acc> void run(contraction_problem const& p) {
  std::optional<contraction::row_contraction<Acc>> rows;
  bool const is_product = contraction::size_of_axes(p.m, p.ms) > 1 &&
                          contraction::size_of_axes(p.n, p.ns) > 1 &&
                          contraction::size_of_axes(p.k, p.ks) > 1;
  if (!is_product) rows.emplace(p);
  std::optional<contraction::ordered_problem> ordered;
  switch (way_of<Acc>(p, is_product ? nullptr : &*rows, ordered)) {
    case way::nothing:
      return;
    case way::rows:
      return rows->run();
    case way::ordered_rows:
      ordered->bring();
      contraction::row_contraction<Acc>(ordered->problem()).run();
      return ordered->take_back();
    case way::tiles:
      return contraction::tile_contraction<Acc>(p).run();
    case way::turned_tiles: {
      contraction_problem const turned = exchanged(p);
      return contraction::tile_contraction<Acc>(turned).run();
    }
    case way::copy_first: {
      contraction_axis axes[max_copy_rank];
      bool const from_a = contraction::size_of_axes(p.n, p.ns) == 1;
      contraction_problem const q = copied_first(p, from_a, axes);
      return contraction::row_contraction<Acc>(q).run();
    }
  }
}

}  // namespace

void contract(contraction_problem const& p) {
  switch (p.activation) {
    case opcode::convert:
    case opcode::relu:
      break;
    case opcode::silu:
    case opcode::gelu_tanh:
    case opcode::gelu_erf:
    case opcode::tanh:
    case opcode::sigmoid:
      if (is_floating(p.a_type)) break;
      [[fallthrough]];
    default:
      throw value_error("contract: the activation " + std::string(name_of(p.activation)) +
                        " does not fit elements of " + std::string(name_of(p.a_type)) +
                        "; floats take relu, silu, gelu_tanh, gelu_erf, tanh and sigmoid, "
                        "integers relu.");
  }
  if (p.a_type == dtype::f64) return run<double>(p);
  if (is_floating(p.a_type)) return run<float>(p);
  return run<integer>(p);
}

}  // namespace ricci::kernels
