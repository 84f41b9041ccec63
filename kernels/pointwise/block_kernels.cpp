#include "kernels/pointwise/block_kernels.hpp"

namespace ricci::kernels {

block_kernel find_kernel(block_opcode op, dtype type, unsigned scalars) {
  switch (type) {
    case dtype::f32:
      return find_f32_kernel(op, scalars);
    case dtype::f64:
      return find_f64_kernel(op, scalars);
    case dtype::boolean:
      return find_boolean_kernel(op, scalars);
    default:
      return find_integer_kernel(op, type, scalars);
  }
}

}  // namespace ricci::kernels
