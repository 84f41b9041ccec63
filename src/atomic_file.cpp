#include <ricci/error/exceptions.hpp>
#include <ricci/io/atomic_file.hpp>
#include "posix_file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <optional>
#include <utility>

namespace ricci::io {
namespace {

constexpr char const* who = "atomic_file";

/// The file that a symbolic link leads to, so that the link itself stays.
std::string follow_link(std::string path) {
  posix::check_path(who, path);
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISLNK(facts.st_mode)) return path;
  char* const target = ::realpath(path.c_str(), nullptr);
  if (target == nullptr) posix::fail(who, "cannot follow the link", path, errno);
  std::string followed(target);
  std::free(target);
  return followed;
}

/// The permissions of the file that is going to be replaced, if there is one.
std::optional<mode_t> replaced_mode(std::string const& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) {
    if (errno == ENOENT) return std::nullopt;
    posix::fail(who, "cannot write", path, errno);
  }
  if (char const* const reason = posix::not_a_file(facts)) {
    throw io_error(fmt::format("{}: `{}` {}; give the path of a regular file", who, path, reason));
  }
  // A rename asks the folder only; a file that its owner has made read-only shall stay.
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
    posix::fail(who, "cannot replace", path, errno);
  }
  return facts.st_mode & 07777;
}

/// Whether the open file is still the one of that name (its last owner may have renamed it).
bool is_named(int file, std::string const& path) {
  struct stat open{};
  struct stat named{};
  return ::fstat(file, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/// Opens `<path>.tmp` empty and locked. A lock that is free belongs to a process that is gone.
posix::descriptor open_temporary(std::string const& temporary, std::string const& path) {
  for (;;) {
    posix::descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
    if (!file.is_open()) posix::fail(who, "cannot write", path, errno);
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw io_error(fmt::format(
          "{}: `{}` is being written by another process or object; wait for it or choose another "
          "name",
          who, path));
    }  // file systems without locks: go on, as everybody without this class does
    if (!is_named(file.number(), temporary)) continue;
    struct stat facts{};
    if (::fstat(file.number(), &facts) != 0) posix::fail(who, "cannot examine", temporary, errno);
    if (char const* const reason = posix::not_a_file(facts)) {
      throw io_error(fmt::format("{}: the temporary `{}` {}; remove it", who, temporary, reason));
    }
    if (::ftruncate(file.number(), 0) != 0) posix::fail(who, "cannot write", temporary, errno);
    return file;
  }
}

}  // namespace

struct atomic_file::state {
  std::string path;
  std::string temporary;
  posix::descriptor file;

  state(state const&) = delete;
  state& operator=(state const&) = delete;

  explicit state(std::string name) : path(follow_link(std::move(name))), temporary(path + ".tmp") {
    auto const mode = replaced_mode(path);
    file = open_temporary(temporary, path);
    if (mode) (void)::fchmod(file.number(), *mode);  // another owner's file: ours keeps the default
  }

  ~state() {
    if (file.is_open()) ::unlink(temporary.c_str());  // while the lock is still held
  }

  [[noreturn]] void give_up(std::string_view fact, int error_number) {
    ::unlink(temporary.c_str());
    file.close();
    posix::fail(who, fact, path, error_number);
  }

  void commit() {
    if (::fsync(file.number()) != 0) give_up("cannot write to disk", errno);
    // Renamed while open: the lock holds until nobody can take the name for a left-over.
    if (::rename(temporary.c_str(), path.c_str()) != 0) give_up("cannot replace", errno);
    if (int const error_number = file.close()) posix::fail(who, "cannot close", path, error_number);
    std::string const folder = posix::folder_of(path);
    posix::descriptor const opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // A folder that may be written but not read cannot be synced: the rename itself has happened.
    if (opened.is_open() && ::fsync(opened.number()) != 0 && errno != EINVAL && errno != EROFS) {
      posix::fail(who, "cannot write to disk the folder", folder, errno);
    }
  }
};

atomic_file::atomic_file(std::string path) : state_(std::make_unique<state>(std::move(path))) {}
atomic_file::atomic_file(atomic_file&&) noexcept = default;
atomic_file& atomic_file::operator=(atomic_file&&) noexcept = default;
atomic_file::~atomic_file() = default;

void atomic_file::write(void const* data, std::int64_t bytes) {
  if (!state_ || !state_->file.is_open()) {
    throw io_error("atomic_file: the file is closed; write before commit, to a new object");
  }
  if (int const error_number = posix::write_all(state_->file.number(), data, bytes)) {
    state_->give_up("cannot write", error_number);
  }
}

void atomic_file::write(std::string_view text) {
  write(text.data(), static_cast<std::int64_t>(text.size()));
}

void atomic_file::commit() {
  if (!state_ || !state_->file.is_open()) {
    throw io_error("atomic_file: the file is closed; commit once");
  }
  state_->commit();
}

void write_file(std::string path, std::string_view contents) {
  atomic_file file(std::move(path));
  file.write(contents);
  file.commit();
}

}  // namespace ricci::io
