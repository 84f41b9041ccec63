#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ricci/tensor/dtype.hpp>

namespace ricci::detail {

/// The elements at `places` as texts of one width, aligned as NumPy prints an array: the decimal
/// points of floats below each other, at most 8 digits behind them and no more than tell the number
/// from its neighbours; exponents where the magnitudes differ by more than 1000, reach 1e8 or fall
/// below 1e-4. Integers and booleans stand to the right.
std::vector<std::string> aligned_texts(void const* data, dtype type,
                                       std::vector<std::int64_t> const& places);

/// One number alone: `3.0`, `1e-05`, `true`.
std::string scalar_text(void const* data, dtype type);

}  // namespace ricci::detail
