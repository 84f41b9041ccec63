#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ricci::io {

/// What a reader of a mapped file is going to do, told to the kernel.
enum class access : std::uint8_t { normal, sequential, random };

/// A regular file mapped into memory, read-only.
///   Value   the file's bytes as they are; copies share one mapping, the last one unmaps it
///   Memory  pages come in when they are read and are the kernel's to drop again (page cache);
///           `release` takes them out of this process's resident size at once
///   Cost    opening reads nothing
///   Errors  io_error: missing, no permission, a directory, a device or a pipe. An empty file is
///           allowed: size() is 0 and data() is nullptr
///   Limits  a file that another process cuts short while it is mapped raises SIGBUS when the lost
///           pages are read, as with every mapping. Files that Ricci replaces are renamed over, so
///           that an open mapping keeps the old bytes.
class mapped_file {
 public:
  mapped_file() = default;
  explicit mapped_file(std::string path);

  [[nodiscard]] std::byte const* data() const;
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::string const& path() const;

  /// Announces the order of the reads to come: random turns read-ahead off.
  void advise(access pattern) const;

  /// Drops the mapping's pages from the resident size. The next read brings them back, from the
  /// page cache when they are still there. Safe while other threads read.
  void release() const;

 private:
  struct mapping;
  std::shared_ptr<mapping const> mapping_;
};

}  // namespace ricci::io
