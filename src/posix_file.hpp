#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

/// Private to src/: the system calls on files, with every failure as an io_error sentence.
namespace ricci::posix {

/// An open file descriptor; closed when it goes.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept;
  ~descriptor() { close(); }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  /// Closes now; the return value is close(2)'s errno, 0 when all went well.
  int close();

 private:
  int number_ = -1;
};

/// Throws io_error: "<who>: <fact> `<path>`: <text of error_number>; <fix that fits the number>".
[[noreturn]] void fail(std::string_view who, std::string_view fact, std::string const& path,
                       int error_number);

/// Throws io_error when the path cannot be handed to the system: empty, or with a zero byte in it.
void check_path(std::string_view who, std::string const& path);

/// Opens a regular file for reading and gives its size.
///   Errors  missing, a directory, a device or a pipe, no permission: io_error
descriptor open_regular(std::string_view who, std::string const& path, std::int64_t& bytes);

/// Writes everything, whatever the system takes at a time. A file that outgrows the process's
/// limit gives EFBIG here and not the signal SIGXFSZ, which would end the process.
///   Errors  0 when all is written, else the errno
int write_all(int file, void const* data, std::int64_t bytes);

/// The folder that holds the path: "." for a bare name.
std::string folder_of(std::string const& path);

/// Why a path that exists cannot be replaced by a regular file, or nullptr.
char const* not_a_file(struct stat const& facts);

}  // namespace ricci::posix
