#include <ricci/error/exceptions.hpp>
#include <ricci/io/npy.hpp>
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "tests/unit/kernels/same_bytes.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// A file of the format, made by hand so that every field can be wrong.
std::string npy_bytes(int version, std::string const& header, std::string const& data) {
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(version), '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>(header.size() >> 8 * i & 0xff);
  }
  return bytes + header + data;
}

std::string header_of(std::string const& descr, std::string const& shape,
                      std::string const& order = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

template <class T> T element(io::npy_array const& array, std::int64_t i) {
  T value;
  std::memcpy(&value, array.data() + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

struct npy_place {
  temporary_folder folder;
  std::string path = folder / "array.npy";

  io::npy_array read(std::string const& bytes) {
    write_bytes(path, bytes);
    return io::read_npy(path);
  }
  /// The sentence that refuses the bytes; it must name the file.
  std::string refusal(std::string const& bytes) {
    write_bytes(path, bytes);
    std::string text = message_of<io_error>([&] { (void)io::read_npy(path); });
    CHECK_MESSAGE(contains(text, path), text);
    return text;
  }
};

using namespace std::string_literals;

}  // namespace

// Written by NumPy 2.4.6: np.save(f, np.array([[1, 2, 3], [4, 5, 65535]], '<u2')).
TEST_CASE("read_npy: a matrix that NumPy wrote") {
  npy_place place;
  std::string const header =
      "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }" + std::string(58, ' ') + "\n";
  REQUIRE(header.size() == 'v');
  auto const array =
      place.read("\x93NUMPY\x01\x00v\x00"s + header + "\x01\0\x02\0\x03\0\x04\0\x05\0\xff\xff"s);
  CHECK(array.type == dtype::u16);
  CHECK(array.shape == std::vector<std::int64_t>{2, 3});
  CHECK(array.count == 6);
  CHECK(array.offset == 128);
  CHECK(element<u16>(array, 3) == 4);
  CHECK(element<u16>(array, 5) == 65535);
}

// np.save(f, np.float32(-1.5)) and np.lib.format.write_array(f, np.array([7, -8], '<i4'), (2, 0)).
TEST_CASE("read_npy: zero rank and version 2 that NumPy wrote") {
  npy_place place;
  auto const scalar = place.read("\x93NUMPY\x01\x00v\x00"s +
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (), }" +
                                 std::string(62, ' ') + "\n" + "\x00\x00\xc0\xbf"s);
  CHECK(scalar.type == dtype::f32);
  CHECK(scalar.shape.empty());
  CHECK(scalar.count == 1);
  CHECK(element<f32>(scalar, 0) == -1.5f);

  auto const second = place.read("\x93NUMPY\x02\x00t\x00\x00\x00"s +
                                 "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }" +
                                 std::string(58, ' ') + "\n" + "\x07\x00\x00\x00\xf8\xff\xff\xff"s);
  CHECK(second.type == dtype::i32);
  CHECK(element<i32>(second, 1) == -8);
}

TEST_CASE("read_npy: every spelling of a header that the format allows") {
  npy_place place;
  auto const a = place.read(
      npy_bytes(1, "{\"shape\":(2L,1L,),\"fortran_order\":False,\"descr\":\"|u1\"}", "ab"));
  CHECK(a.shape == std::vector<std::int64_t>{2, 1});
  CHECK(element<u8>(a, 1) == 'b');
  CHECK(place.read(npy_bytes(3, header_of("'=i2'", "(1,)"), "ab")).type == dtype::i16);
  CHECK(place.read(npy_bytes(1, header_of("'>i1'", "(1,)"), "a")).type == dtype::i8);
  CHECK(place.read(npy_bytes(1, header_of("'|b1'", "(2,)"), "\0\1"s)).type == dtype::boolean);
  CHECK(place.read(npy_bytes(1, header_of("'<f8'", "(0, 3)"), "")).count == 0);
}

TEST_CASE("read_npy: what it does not read is refused by name") {
  npy_place place;
  auto const refused = [&](std::string const& descr, std::string const& shape, char const* part) {
    std::string const text = place.refusal(npy_bytes(1, header_of(descr, shape), "12345678"));
    CHECK_MESSAGE(contains(text, part), text);
  };
  CHECK(contains(place.refusal(npy_bytes(1, header_of("'<f4'", "(1, 2)", "True"), "12345678")),
                 "Fortran order"));
  refused("'>f4'", "(2,)", "big-endian (dtype `>f4`)");
  refused("'<c8'", "(1,)", "`<c8`");
  refused("'<u4'", "(2,)", "`<u4`");
  refused("'|O'", "(1,)", "`|O`");
  refused("[('x', '<f4'), ('y', '<f4')]", "(1,)", "structured");
  refused("'<f4'", "(3,)", "takes 12 bytes and the file has 8 after its header: it is cut short");
  refused("'<f4'", "(1,)", "something else follows");
  refused("'<f4'", "()", "something else follows");
  refused("'<f4'", "(-2,)", "no valid extent");
  refused("'<f4'", "(2.0,)", "header is damaged");
  refused("'<f4'", "(9223372036854775808,)", "larger than 2^63 - 1");
  refused("'<f4'", "(4611686018427387904, 8)", "overflows");
  refused("'<f4'", "(0, 4611686018427387904, 8)", "overflows");
  refused("'|b1'", "(8,)", "element 0 of the bool array is 49");
  refused("'|u1'", "8", "expected `(`");
}

TEST_CASE("read_npy: headers that are not what the format says") {
  npy_place place;
  auto const refused = [&](std::string const& header, char const* part) {
    std::string const text = place.refusal(npy_bytes(1, header, "a"));
    CHECK_MESSAGE(contains(text, part), text);
  };
  refused("{'descr': '|u1', 'fortran_order': False}", "no key `shape`");
  refused("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'more': 1}",
          "unknown key `more`");
  refused("{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", "twice");
  refused("{'descr': '|u1', 'fortran_order': 0, 'shape': (1,)}", "neither True nor False");
  refused("{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} x", "goes on");
  refused("{'descr': '|u1", "a string does not end");
  refused("", "expected `{`");
  CHECK(contains(place.refusal(""), "not a .npy file"));
  CHECK(contains(place.refusal("In the beginning God created"), "not a .npy file"));
  CHECK(contains(place.refusal(npy_bytes(4, "", "")), "version is 4.0"));
  CHECK(contains(message_of<io_error>([&] { (void)io::read_npy(place.folder / "none"); }),
                 "No such file"));
}

TEST_CASE("read_npy: a file cut at any byte is refused") {
  npy_place place;
  for (int const version : {1, 2}) {
    std::string const bytes = npy_bytes(version, header_of("'<i8'", "(2,)"), "0123456789abcdef");
    CHECK(place.read(bytes).count == 2);
    for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
      write_bytes(place.path, bytes.substr(0, kept));
      CHECK_THROWS_AS((void)io::read_npy(place.path), io_error);
    }
  }
}

TEST_CASE("write_npy: what is written reads back, at an offset of 64") {
  npy_place place;
  for (dtype const type : {dtype::f64, dtype::f32, dtype::f16, dtype::i64, dtype::i32, dtype::i16,
                           dtype::i8, dtype::u16, dtype::u8, dtype::boolean}) {
    for (auto const& shape : std::vector<std::vector<std::int64_t>>{
             {}, {1}, {3}, {2, 0}, {2, 3, 4}, std::vector<std::int64_t>(40, 1)}) {
      std::int64_t count = 1;
      for (auto const extent : shape) count *= extent;
      std::string data;
      for (std::int64_t i = 0; i < count * size_of(type); ++i) {
        data += static_cast<char>(type == dtype::boolean ? i % 2 : i * 37);
      }
      io::write_npy(place.path, type, shape, data.data());
      auto const array = io::read_npy(place.path);
      CHECK(array.type == type);
      CHECK(array.shape == shape);
      CHECK(array.count == count);
      CHECK(array.offset % 64 == 0);
      CHECK(same_bytes(array.data(), data.data(), data.size()));
    }
  }
  std::int64_t const two[] = {2};
  std::int64_t const negative[] = {-1};
  std::int64_t const huge[] = {std::int64_t{1} << 62, 4};
  CHECK_THROWS_AS(io::write_npy(place.path, dtype::bf16, two, "1234"), value_error);
  CHECK_THROWS_AS(io::write_npy(place.path, dtype::u8, negative, ""), value_error);
  CHECK_THROWS_AS(io::write_npy(place.path, dtype::u8, huge, ""), value_error);
  CHECK_THROWS_AS(io::write_npy(place.folder / "no/x.npy", dtype::u8, two, "12"), io_error);
}
