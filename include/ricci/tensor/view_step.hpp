#pragma once

#include <cstdint>

namespace ricci {

/// The view operations: the same elements under other axes, orders or positions.
enum class view_step : std::uint8_t { permute, rename, at, slice, reverse, diagonal, broadcast };

}  // namespace ricci
