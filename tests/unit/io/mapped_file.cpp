#include <ricci/error/exceptions.hpp>
#include <ricci/io/mapped_file.hpp>
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <cstring>
#include <utility>

#include "tests/unit/kernels/same_bytes.hpp"

using namespace ricci;
using namespace ricci::test;

TEST_CASE("mapped_file: the bytes of the file, kept by every copy") {
  temporary_folder const folder;
  std::string const path = folder / "data";
  write_bytes(path, std::string("\0\1\2abc", 6));
  io::mapped_file copy;
  CHECK(copy.size() == 0);
  CHECK(copy.data() == nullptr);
  CHECK(copy.path().empty());
  {
    io::mapped_file file(path);
    copy = file;
    io::mapped_file const moved = std::move(file);
    CHECK(moved.data() == copy.data());
  }
  REQUIRE(copy.size() == 6);
  CHECK(same_bytes(copy.data(), "\0\1\2abc", 6));
  CHECK(copy.path() == path);
  copy.advise(io::access::random);
  copy.release();
  CHECK(same_bytes(copy.data(), "\0\1\2abc", 6));
}

TEST_CASE("mapped_file: a file that is replaced by a rename keeps its old bytes") {
  temporary_folder const folder;
  write_bytes(folder / "a", "old");
  write_bytes(folder / "b", "newer");
  io::mapped_file const file(folder / "a");
  REQUIRE(::rename((folder / "b").c_str(), (folder / "a").c_str()) == 0);
  CHECK(same_bytes(file.data(), "old", 3));
}

TEST_CASE("mapped_file: an empty file is allowed") {
  temporary_folder const folder;
  write_bytes(folder / "empty", "");
  io::mapped_file const file(folder / "empty");
  CHECK(file.size() == 0);
  CHECK(file.data() == nullptr);
  file.advise(io::access::sequential);
  file.release();
}

TEST_CASE("mapped_file: what is no readable file is refused by name") {
  temporary_folder const folder;
  auto const refusal = [&](std::string const& path) {
    return message_of<io_error>([&] { io::mapped_file const file(path); });
  };
  std::string const missing = refusal(folder / "missing");
  CHECK(contains(missing, folder / "missing"));
  CHECK(contains(missing, "No such file or directory"));
  CHECK(contains(refusal(folder / ""), "is a directory"));
  CHECK(contains(refusal(""), "path is empty"));
  CHECK(contains(refusal(std::string("a\0b", 3)), "zero byte"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(contains(refusal(folder / "pipe"), "is a device, a pipe"));
  CHECK(contains(refusal("/dev/zero"), "is a device, a pipe"));
  write_bytes(folder / "file", "x");
  CHECK(contains(refusal(folder / "file/inside"), "not a folder"));

  REQUIRE(::chmod((folder / "file").c_str(), 0) == 0);
  REQUIRE(::chmod((folder / ".").c_str(), 0755) == 0);
  CHECK(in_child(
      [&] { return become_nobody() && contains(refusal(folder / "file"), "Permission denied"); }));
}
