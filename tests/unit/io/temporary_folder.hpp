#pragma once

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ricci::test {

/// A folder of its own for a test's files; it goes with everything in it.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ricci_test_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string operator/(std::string_view name) const {
    return (path_ / name).string();
  }
  /// Number of entries: 0 after a clean failure.
  [[nodiscard]] std::int64_t count() const {
    return std::distance(std::filesystem::directory_iterator(path_), {});
  }

 private:
  std::filesystem::path path_;
};

inline void write_bytes(std::string const& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string read_bytes(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The text of the E that f throws; says what happened when it throws something else or nothing.
template <class E, class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (E const& error) {
    return error.what();
  } catch (std::exception const& error) {
    return std::string("another exception: ") + error.what();
  }
  return "nothing was thrown";
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Runs f in a child process, which may change limits and users; true when f returns true.
template <class F> bool in_child(F&& f) {
  pid_t const child = ::fork();
  if (child == 0) {
    bool is_right = false;
    try {
      is_right = f();
    } catch (...) {
    }
    ::_exit(is_right ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Makes the process, a child's, one that the permissions of files hold for: root may do
/// everything.
inline bool become_nobody() { return ::geteuid() != 0 || ::seteuid(65534) == 0; }

}  // namespace ricci::test
