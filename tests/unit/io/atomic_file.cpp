#include <ricci/error/exceptions.hpp>
#include <ricci/io/atomic_file.hpp>
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <utility>

using namespace ricci;
using namespace ricci::test;

namespace {

mode_t mode_of(std::string const& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

}  // namespace

TEST_CASE("atomic_file: the file appears at commit, whole, and nothing else stays") {
  temporary_folder const folder;
  write_bytes(folder / "a", "old");
  io::atomic_file file(folder / "a");
  file.write("new ");
  file.write("bytes", 5);
  CHECK(read_bytes(folder / "a") == "old");
  CHECK(folder.count() == 2);
  io::atomic_file moved = std::move(file);
  moved.commit();
  CHECK(read_bytes(folder / "a") == "new bytes");
  CHECK(folder.count() == 1);
  CHECK_THROWS_AS(moved.write("more"), io_error);
  CHECK_THROWS_AS(moved.commit(), io_error);
  CHECK_THROWS_AS(file.write("more"), io_error);
}

TEST_CASE("atomic_file: without commit nothing happens") {
  temporary_folder const folder;
  write_bytes(folder / "a", "old");
  {
    io::atomic_file file(folder / "a");
    file.write("new");
  }
  CHECK(read_bytes(folder / "a") == "old");
  CHECK(folder.count() == 1);
}

TEST_CASE(
    "atomic_file: what a killed process left is taken over, what a living one writes is not") {
  temporary_folder const folder;
  write_bytes(folder / "a.tmp", "a long rest of a process that was killed");
  io::write_file(folder / "a", "new");
  CHECK(read_bytes(folder / "a") == "new");
  CHECK(folder.count() == 1);

  io::atomic_file file(folder / "a");
  CHECK(contains(message_of<io_error>([&] { io::write_file(folder / "a", "second"); }),
                 "is being written by another"));
  file.write("first");
  file.commit();
  CHECK(read_bytes(folder / "a") == "first");
}

TEST_CASE("atomic_file: permissions stay and a link is followed") {
  temporary_folder const folder;
  write_bytes(folder / "a", "old");
  REQUIRE(::chmod((folder / "a").c_str(), 0640) == 0);
  REQUIRE(::symlink("a", (folder / "link").c_str()) == 0);
  io::write_file(folder / "link", "new");
  CHECK(read_bytes(folder / "a") == "new");
  CHECK(mode_of(folder / "a") == 0640);
  CHECK(folder.count() == 2);
}

TEST_CASE("atomic_file: the limit on file size gives io_error and leaves the old file") {
  temporary_folder const folder;
  write_bytes(folder / "a", "old");
  for (bool const is_ignored : {true, false}) {
    CHECK(in_child([&] {
      if (is_ignored) ::signal(SIGXFSZ, SIG_IGN);  // else the signal would end the process
      rlimit const limit{4096, 4096};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::string const text =
          message_of<io_error>([&] { io::write_file(folder / "a", std::string(100'000, 'x')); });
      return contains(text, folder / "a") && contains(text, "File too large") &&
             contains(text, "ulimit");
    }));
  }
  CHECK(read_bytes(folder / "a") == "old");
  CHECK(folder.count() == 1);
}

TEST_CASE("atomic_file: places that cannot be written are refused by name") {
  temporary_folder const folder;
  auto const refusal = [&](std::string const& path) {
    return message_of<io_error>([&] { io::write_file(path, "x"); });
  };
  std::string const missing = refusal(folder / "no/such/file");
  CHECK(contains(missing, folder / "no/such/file"));
  CHECK(contains(missing, "No such file or directory"));
  CHECK(contains(refusal(folder / ""), "is a directory"));
  CHECK(contains(refusal(""), "path is empty"));
  CHECK(contains(refusal("/dev/null"), "is a device"));
  CHECK(contains(refusal(folder / std::string(300, 'n')), "File name too long"));
  CHECK(folder.count() == 0);
}

TEST_CASE("atomic_file: no permission, for the folder or for the file") {
  temporary_folder const folder;
  REQUIRE(::mkdir((folder / "closed").c_str(), 0555) == 0);
  write_bytes(folder / "kept", "old");
  REQUIRE(::chmod((folder / "kept").c_str(), 0444) == 0);
  REQUIRE(::chmod((folder / ".").c_str(), 0777) == 0);
  CHECK(in_child([&] {
    if (!become_nobody()) return false;
    auto const refuses = [&](std::string const& path) {
      return contains(message_of<io_error>([&] { io::write_file(path, "x"); }),
                      "Permission denied");
    };
    return refuses(folder / "closed/file") && refuses(folder / "kept");
  }));
  CHECK(read_bytes(folder / "kept") == "old");
  CHECK(folder.count() == 2);
}
