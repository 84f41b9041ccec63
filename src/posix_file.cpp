#include "posix_file.hpp"
#include <ricci/error/exceptions.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>

namespace ricci::posix {
namespace {

char const* fix_for(int error_number) {
  switch (error_number) {
    case ENOENT:
      return "check the spelling, and that the folder exists";
    case ENOTDIR:
      return "a part of the path before the last / is not a folder";
    case EACCES:
    case EPERM:
      return "check the permissions of the file and of its folders";
    case EROFS:
      return "choose a folder that is not mounted read-only";
    case ENOSPC:
      return "free some space or choose another disk";
    case EDQUOT:
      return "free some of the quota or choose another disk";
    case EFBIG:
      return "raise the limit on file size (ulimit -f) or choose another file system";
    case ENAMETOOLONG:
      return "choose a shorter name";
    case EMFILE:
    case ENFILE:
      return "close files or raise the limit (ulimit -n)";
    case EISDIR:
      return "give the path of a file in it";
    default:
      return "check the disk and the path";
  }
}

/// Holds back from this thread the signals by which a failing write ends the process, over the
/// limit on file size and into a pipe that nobody reads, and takes away those that a write has
/// caused.
class no_write_signals {
 public:
  no_write_signals() {
    sigset_t pending;
    sigpending(&pending);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigemptyset(&ours_);
    for (int const number : {SIGXFSZ, SIGPIPE}) {
      sigaddset(&blocked, number);
      if (sigismember(&pending, number) != 1) sigaddset(&ours_, number);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~no_write_signals() {
    int const error_number = errno;  // of the write: sigtimedwait sets its own
    timespec const now{};
    while (sigtimedwait(&ours_, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error_number;
  }
  no_write_signals(no_write_signals const&) = delete;
  no_write_signals& operator=(no_write_signals const&) = delete;

 private:
  sigset_t ours_{};  // those that did not wait before
  sigset_t before_{};
};

}  // namespace

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

int descriptor::close() {
  if (number_ < 0) return 0;
  return ::close(std::exchange(number_, -1)) == 0 ? 0 : errno;
}

void fail(std::string_view who, std::string_view fact, std::string const& path, int error_number) {
  throw io_error(fmt::format("{}: {} `{}`: {}; {}", who, fact, path,
                             std::generic_category().message(error_number), fix_for(error_number)));
}

void check_path(std::string_view who, std::string const& path) {
  if (path.empty()) throw io_error(fmt::format("{}: the path is empty; give a file's name", who));
  if (path.find('\0') != std::string::npos) {
    throw io_error(fmt::format("{}: the path `{}...` has a zero byte in it; no file can have one",
                               who, path.c_str()));
  }
}

char const* not_a_file(struct stat const& facts) {
  if (S_ISREG(facts.st_mode)) return nullptr;
  if (S_ISDIR(facts.st_mode)) return "is a directory";
  return "is a device, a pipe or a socket";
}

descriptor open_regular(std::string_view who, std::string const& path, std::int64_t& bytes) {
  check_path(who, path);
  // Without O_NONBLOCK, opening a pipe would wait for its writer for ever.
  descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) fail(who, "cannot open", path, errno);
  struct stat facts{};
  if (::fstat(file.number(), &facts) != 0) fail(who, "cannot examine", path, errno);
  if (char const* const reason = not_a_file(facts)) {
    throw io_error(fmt::format("{}: `{}` {}; give a regular file", who, path, reason));
  }
  bytes = facts.st_size;
  return file;
}

int write_all(int file, void const* data, std::int64_t bytes) {
  no_write_signals const guard;
  auto const* next = static_cast<char const*>(data);
  constexpr std::int64_t most = std::int64_t{1} << 30;  // the system takes 2 GiB - 4 KiB at a time
  while (bytes > 0) {
    ssize_t const written = ::write(file, next, static_cast<std::size_t>(std::min(bytes, most)));
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (written == 0) return ENOSPC;
    next += written;
    bytes -= written;
  }
  return 0;
}

std::string folder_of(std::string const& path) {
  auto const slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace ricci::posix
