#include <ricci/io/mapped_file.hpp>
#include "posix_file.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

namespace ricci::io {

struct mapped_file::mapping {
  std::string path;
  void* start = nullptr;  // [size] bytes, or nullptr when size is 0
  std::int64_t size = 0;

  explicit mapping(std::string name) : path(std::move(name)) {}
  mapping(mapping const&) = delete;
  mapping& operator=(mapping const&) = delete;
  ~mapping() {
    if (start != nullptr) ::munmap(start, static_cast<std::size_t>(size));
  }
};

mapped_file::mapped_file(std::string path) {
  auto made = std::make_shared<mapping>(std::move(path));
  auto const file = posix::open_regular("mapped_file", made->path, made->size);
  if (made->size > 0) {  // mmap refuses a length of 0
    void* const start = ::mmap(nullptr, static_cast<std::size_t>(made->size), PROT_READ,
                               MAP_PRIVATE, file.number(), 0);
    if (start == MAP_FAILED) posix::fail("mapped_file", "cannot map", made->path, errno);
    made->start = start;
  }
  mapping_ = std::move(made);
}

std::byte const* mapped_file::data() const {
  return mapping_ ? static_cast<std::byte const*>(mapping_->start) : nullptr;
}

std::int64_t mapped_file::size() const { return mapping_ ? mapping_->size : 0; }

std::string const& mapped_file::path() const {
  static std::string const none;
  return mapping_ ? mapping_->path : none;
}

// Advice that the kernel does not take changes nothing about the bytes: its result is ignored.

void mapped_file::advise(access pattern) const {
  if (size() == 0) return;
  int const advice = pattern == access::random       ? MADV_RANDOM
                     : pattern == access::sequential ? MADV_SEQUENTIAL
                                                     : MADV_NORMAL;
  (void)::madvise(mapping_->start, static_cast<std::size_t>(mapping_->size), advice);
}

void mapped_file::release() const {
  if (size() == 0) return;
  (void)::madvise(mapping_->start, static_cast<std::size_t>(mapping_->size), MADV_DONTNEED);
}

}  // namespace ricci::io
