#include "kernels/pointwise/float_kernels.hpp"

namespace ricci::kernels {

block_kernel find_f32_kernel(block_opcode op, unsigned scalars) {
  return float_kernels::find<f32>(op, scalars);
}

}  // namespace ricci::kernels
