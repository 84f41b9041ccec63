#pragma once

#include <ricci/tensor/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ricci::contractions {

/// Random numbers in (-1, 1). The operands of all contractions are parts of the same ones, so that
/// their memory is filled once and not for each.
///   Value   multiples of 2^-53, 2^-24 and 2^-8 in f64, f32 and bf16: all bits of the dtype
///   Memory  aligned at 64 bytes
class random_numbers {
 public:
  random_numbers(dtype type, std::int64_t count);

  void* data() const { return bytes_.get(); }

 private:
  std::unique_ptr<std::byte, void (*)(void*)> bytes_;
};

}  // namespace ricci::contractions
