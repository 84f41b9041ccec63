#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ricci::io {

/// A file that appears under its name only when it is complete.
/// What is written goes to `<path>.tmp` in the same folder; `commit` syncs it, renames it over
/// the path and syncs the folder. Until then the previous file stands untouched, also when the
/// process is killed or the disk is full.
///   Errors  io_error with the system's text: the folder is missing, no permission, the disk is
///   full,
///           the limit on file size is reached, the path is a directory or a device, the file is
///           write-protected, another process is writing the same file. The temporary is removed
///           and the object is of no further use.
///   Limits  a killed process leaves `<path>.tmp`; the next writer of the path takes it over. A
///           symbolic link is followed: the file that it names is the one replaced.
class atomic_file {
 public:
  explicit atomic_file(std::string path);
  atomic_file(atomic_file&&) noexcept;
  atomic_file& operator=(atomic_file&&) noexcept;
  /// Without `commit`: removes the temporary.
  ~atomic_file();

  void write(void const* data, std::int64_t bytes);
  void write(std::string_view text);
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The whole of a small file at once.
void write_file(std::string path, std::string_view contents);

}  // namespace ricci::io
