#include <ricci/data/token_file.hpp>
#include <ricci/data/token_windows.hpp>
#include <ricci/error/exceptions.hpp>
#include <ricci/io/npy.hpp>
#include "../io/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

using namespace ricci;
using namespace ricci::test;
using data::token_file;

namespace {

struct token_place {
  temporary_folder folder;

  std::string npy(char const* name, dtype type, std::vector<std::int64_t> const& shape,
                  void const* ids) const {
    io::write_npy(folder / name, type, shape, ids);
    return folder / name;
  }
  std::string raw(char const* name, std::string const& bytes) const {
    write_bytes(folder / name, bytes);
    return folder / name;
  }
};

template <class E = io_error>
std::string refusal(std::string const& path, std::int64_t vocabulary) {
  return message_of<E>([&] { (void)token_file::open(path, vocabulary); });
}

}  // namespace

TEST_CASE("token_file: raw bytes and .npy of u8, u16 and i32 give the same ids") {
  token_place const place;
  u8 const bytes[] = {0, 255, 7};
  u16 const words[] = {0, 255, 7, 65535};
  i32 const numbers[] = {0, 255, 7, 119546};
  token_file const files[] = {
      token_file::open(place.raw("a.bin", {"\0\xff\7", 3}), 256),
      token_file::open(place.npy("b.npy", dtype::u8, {3}, bytes), 256),
      token_file::open(place.npy("c.npy", dtype::u16, {4}, words), 65536),
      token_file::open(place.npy("d.npy", dtype::i32, {4}, numbers), 119547)};
  for (auto const& file : files) {
    CHECK(file.token(0) == 0);
    CHECK(file.token(1) == 255);
    CHECK(file.token(2) == 7);
    CHECK_THROWS_AS((void)file.token(-1), index_error);
    CHECK_THROWS_AS((void)file.token(file.size()), index_error);
    CHECK_THROWS_AS((void)file.token(std::numeric_limits<std::int64_t>::max()), index_error);
  }
  CHECK(files[0].size() == 3);
  CHECK(files[2].type() == dtype::u16);
  CHECK(files[2].token(3) == 65535);
  CHECK(files[3].token(3) == 119546);
  CHECK(files[3].vocabulary() == 119547);
  CHECK(files[1].path() == place.folder / "b.npy");
}

TEST_CASE("token_file: a dtype that cannot hold the vocabulary is refused when opened") {
  token_place const place;
  u16 const words[] = {1, 2};
  std::string const path = place.npy("a.npy", dtype::u16, {2}, words);
  std::string const text = refusal(path, 119547);
  CHECK(contains(text, path));
  CHECK(contains(text, "65536"));
  CHECK(contains(text, "119547"));
  CHECK(token_file::open(path, 65536).size() == 2);
  CHECK(contains(refusal(place.raw("b.txt", "ab"), 257), "room for 256 ids"));
  CHECK_THROWS_AS((void)token_file::open(path, 0), value_error);
  CHECK_THROWS_AS((void)token_file::open(path, -5), value_error);
  CHECK_THROWS_AS((void)token_file::open(path, (std::int64_t{1} << 31) + 1), value_error);
}

TEST_CASE("token_file: files without tokens in one dimension are refused by name") {
  token_place const place;
  f32 const floats[] = {1, 2};
  u16 const words[] = {1, 2};
  CHECK(contains(refusal(place.npy("f.npy", dtype::f32, {2}, floats), 4), "dtype f32"));
  CHECK(contains(refusal(place.npy("m.npy", dtype::u16, {1, 2}, words), 4), "shape (1, 2)"));
  CHECK(contains(refusal(place.npy("s.npy", dtype::u16, {}, words), 4), "shape ()"));
  CHECK(contains(refusal(place.npy("e.npy", dtype::u16, {0}, words), 4), "is empty"));
  CHECK(contains(refusal(place.raw("empty", ""), 4), "is empty"));
  CHECK(contains(refusal(place.raw("text.npy", "In the beginning"), 256), "not a .npy file"));
  CHECK(contains(refusal(place.folder / "missing", 4), "No such file"));
  CHECK(contains(refusal(place.folder / "", 4), "is a directory"));
  std::string const whole = read_bytes(place.folder / "m.npy");
  CHECK(contains(refusal(place.raw("m.npy", whole.substr(0, whole.size() - 1)), 4), "cut short"));
  // The format is told by the bytes, so that a header is never trained on.
  CHECK(contains(refusal(place.raw("renamed.bin", whole), 4), "shape (1, 2)"));
}

TEST_CASE("token_file: an id outside the vocabulary is found when it is read") {
  token_place const place;
  i32 ids[] = {0, 9, 10, -1, 3};
  auto const file = token_file::open(place.npy("a.npy", dtype::i32, {5}, ids), 10);
  i32 tokens[5];
  file.read(0, 2, tokens);
  CHECK(tokens[1] == 9);
  std::string const text = message_of<index_error>([&] { file.read(1, 3, tokens); });
  CHECK(contains(text, "position 2"));
  CHECK(contains(text, "is 10"));
  CHECK(contains(text, "vocabulary of 10"));
  CHECK(contains(message_of<index_error>([&] { file.read(3, 2, tokens); }), "position 3"));
  CHECK(contains(message_of<index_error>([&] { (void)file.token(3); }), "is -1"));
  auto const bytes = token_file::open(place.raw("b.txt", "\1\2\3\4\5"), 4);
  CHECK(contains(message_of<index_error>([&] { bytes.read(0, 5, tokens); }), "position 3"));
  // 4 | 3 = 7: the quick test of all ids together must not refuse what is legal.
  auto const legal = token_file::open(place.raw("c.txt", "\4\3\1\2\0"), 5);
  legal.read(0, 4, tokens);
  CHECK(tokens[0] == 4);
}

TEST_CASE("token_file: check finds an id outside the vocabulary anywhere in the file") {
  token_place const place;
  std::vector<u16> ids(100'000, 7);
  auto const checked = [&] {
    auto const count = static_cast<std::int64_t>(ids.size());
    token_file::open(place.npy("a.npy", dtype::u16, {count}, ids.data()), 10).check();
  };
  checked();
  for (std::size_t const position : {0, 16383, 16384, 99'999}) {
    ids[position] = 10;
    CHECK(contains(message_of<index_error>(checked), "position " + std::to_string(position)));
    ids[position] = 7;
  }
  i32 const negative[] = {0, -1};
  auto const whole =
      token_file::open(place.npy("b.npy", dtype::i32, {2}, negative), std::int64_t{1} << 31);
  CHECK(contains(message_of<index_error>([&] { whole.check(); }), "is -1"));
  token_file::open(place.raw("c.txt", "any \xff"), 256).check();
}

TEST_CASE("token_file: ids that are not aligned to their type") {
  token_place const place;
  std::string const header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}";
  std::string bytes = "\x93NUMPY\x01";
  bytes += {'\0', static_cast<char>(header.size()), '\0'};
  REQUIRE((bytes.size() + header.size()) % 4 != 0);
  auto const file = token_file::open(
      place.raw("a.npy", bytes + header + std::string("\5\0\0\0\1\2\3\0", 8)), 1 << 20);
  CHECK(file.token(0) == 5);
  CHECK(file.token(1) == 0x30201);
}

TEST_CASE("token_file: nine tenths are for training, the rest for validation") {
  token_place const place;
  for (std::int64_t size = 1; size < 100; ++size) {
    auto const file =
        token_file::open(place.raw("a", std::string(static_cast<std::size_t>(size), 'x')), 256);
    CHECK(file.train().first == 0);
    CHECK(file.train().last == size * 9 / 10);
    CHECK(file.validation().first == file.train().last);
    CHECK(file.validation().last == size);
  }
}
