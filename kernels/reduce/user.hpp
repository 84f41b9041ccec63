#pragma once

#include "kernels/reduce/reduce.hpp"

namespace ricci::kernels {

/// reduce with reduction::user; the contract is there.
void reduce_by_user(pointwise_program const& source, std::uint32_t reduced, void* output,
                    dtype output_type, user_reduction const* user);

}  // namespace ricci::kernels
