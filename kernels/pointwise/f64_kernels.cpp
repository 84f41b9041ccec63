#include "kernels/pointwise/float_kernels.hpp"

namespace ricci::kernels {

block_kernel find_f64_kernel(block_opcode op, unsigned scalars) {
  return float_kernels::find<f64>(op, scalars);
}

}  // namespace ricci::kernels
