#include "kernels/contract/contract.hpp"

#include <string>

#include <ricci/error/exceptions.hpp>

#include "kernels/contract/rows.hpp"
#include "kernels/contract/tiles.hpp"

namespace ricci::kernels {
namespace {

using contraction::integer;

template <class Acc> void run(contraction_problem const& p) {
  std::int64_t const m = contraction::size_of_axes(p.m, p.ms);
  std::int64_t const n = contraction::size_of_axes(p.n, p.ns);
  std::int64_t const k = contraction::size_of_axes(p.k, p.ks);
  std::int64_t const batch = contraction::size_of_axes(p.batch, p.batches);
  if (m == 0 || n == 0 || batch == 0) return;
  if (m == 1 || n == 1 || k <= 1)
    contraction::row_contraction<Acc>(p).run();
  else
    contraction::tile_contraction<Acc>(p).run();
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
