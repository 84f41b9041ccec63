#include "kernels/contract/contract.hpp"

#include <string>
#include <utility>

#include <ricci/error/exceptions.hpp>

#include "kernels/contract/rows.hpp"
#include "kernels/contract/tiles.hpp"

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

template <class Acc> void run(contraction_problem const& p) {
  std::int64_t const m = contraction::size_of_axes(p.m, p.ms);
  std::int64_t const n = contraction::size_of_axes(p.n, p.ns);
  std::int64_t const k = contraction::size_of_axes(p.k, p.ks);
  std::int64_t const batch = contraction::size_of_axes(p.batch, p.batches);
  if (m == 0 || n == 0 || batch == 0) return;
  if (m > 1 && n > 1 && k > 1) return contraction::tile_contraction<Acc>(p).run();
  contraction::row_contraction<Acc> const rows(p);
  // Element by element products, empty sums, what lies well and what the cache holds anyway: rows.
  // Else tiles, whose lines are used whole.
  if (k == 0 || (m == 1 && n == 1) || rows.reads_lines() || batch * m * n * k < least_tiled)
    return rows.run();
  if (n > 1) return contraction::tile_contraction<Acc>(p).run();
  contraction_problem const turned = exchanged(p);
  contraction::tile_contraction<Acc>(turned).run();
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
