#pragma once

namespace ricci {

/// Number of threads that operations run on; at first, as many as the machine has cores. Results do
/// not depend on it.
///   Errors  fewer than 1: value_error
void set_threads(int count);
[[nodiscard]] int threads();

}  // namespace ricci
