#pragma once

#include <ricci/tensor/bf16.hpp>

#include <bit>
#include <cstdint>

namespace ricci::contractions {

/// Accumulators that a loop runs beside each other: a sum of one alone waits for each addition.
inline constexpr int lanes = 8;

/// An element as f64, exactly.
inline double number(double x) { return x; }
inline double number(float x) { return x; }
inline double number(bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }

}  // namespace ricci::contractions
