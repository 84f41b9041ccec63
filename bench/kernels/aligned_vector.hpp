#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace bench {

/// Allocates on the boundaries of cache lines, as the library's storage does.
template <class T> struct aligned_allocator {
  using value_type = T;

  aligned_allocator() = default;
  template <class U> explicit aligned_allocator(aligned_allocator<U> const&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{64}); }
  friend bool operator==(aligned_allocator, aligned_allocator) { return true; }
};

template <class T> using aligned_vector = std::vector<T, aligned_allocator<T>>;

}  // namespace bench
