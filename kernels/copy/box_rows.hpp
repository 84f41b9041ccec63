#pragma once

#include <cstdint>

namespace ricci::kernels {

/// Private to kernels/copy: the two axes of a box that a kernel loops over, and the run that it
/// moves whole.
struct box_rows {
  std::int64_t outer = 1, inner = 1;  // extents
  std::int64_t outer_target = 0, outer_source = 0;
  std::int64_t inner_target = 0, inner_source = 0;  // strides, bytes
  std::int64_t run = 0;                             // bytes
};

}  // namespace ricci::kernels
