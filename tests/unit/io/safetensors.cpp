#include <ricci/error/exceptions.hpp>
#include <ricci/io/safetensors.hpp>
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <limits>

#include "tests/unit/kernels/same_bytes.hpp"

using namespace ricci;
using namespace ricci::test;
using namespace std::string_literals;

namespace {

std::string file_bytes(std::string const& header, std::string const& data) {
  std::uint64_t const length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

/// The entry of one tensor in a header.
std::string entry(std::string const& name, std::string const& type, std::string const& shape,
                  std::string const& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

struct checkpoint_place {
  temporary_folder folder;
  std::string path = folder / "model.safetensors";

  io::safetensors_file read(std::string const& bytes) {
    write_bytes(path, bytes);
    return io::read_safetensors(path);
  }
  std::string refusal(std::string const& bytes) {
    write_bytes(path, bytes);
    std::string text = message_of<io_error>([&] { (void)io::read_safetensors(path); });
    CHECK_MESSAGE(contains(text, path), text);
    return text;
  }
  void refused(std::string const& header, std::string const& data, char const* part) {
    std::string const text = refusal(file_bytes(header, data));
    CHECK_MESSAGE(contains(text, part), text);
  }
};

io::stored_tensor stored(std::string name, dtype type, std::vector<std::int64_t> shape,
                         std::string const& bytes) {
  return {std::move(name), type, std::move(shape), bytes.data(),
          static_cast<std::int64_t>(bytes.size())};
}

// Written by Python's safetensors 0.8.0 with NumPy 2.4.6:
//   safetensors.numpy.save({'w': np.array([[1, 2, 3], [-4, .5, 6]], '<f4'),
//       'ids': np.array([1, -2], '<i8'), 'flag': np.array([True, False, True]),
//       'step': np.array(1000, '<i8'), 'empty': np.zeros((0, 4), '<f2')}, {'model': 'gpt'})
std::string const from_python =
    "H\x01\x00\x00\x00\x00\x00\x00"s
    R"({"__metadata__":{"model":"gpt"},"ids":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},)"
    R"("step":{"dtype":"I64","shape":[],"data_offsets":[16,24]},)"
    R"("w":{"dtype":"F32","shape":[2,3],"data_offsets":[24,48]},)"
    R"("empty":{"dtype":"F16","shape":[0,4],"data_offsets":[48,48]},)"
    R"("flag":{"dtype":"BOOL","shape":[3],"data_offsets":[48,51]}}      )"
    "\x01\x00\x00\x00\x00\x00\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff\xe8\x03\x00\x00\x00\x00\x00"
    "\x00"
    "\x00\x00\x80\x3f\x00\x00\x00@\x00\x00@@\x00\x00\x80\xc0\x00\x00\x00\x3f\x00\x00\xc0@"
    "\x01\x00\x01"s;

}  // namespace

TEST_CASE("read_safetensors: a file that Python's safetensors wrote") {
  checkpoint_place place;
  auto const file = place.read(from_python);
  CHECK(file.metadata == io::safetensors_metadata{{"model", "gpt"}});
  REQUIRE(file.tensors.size() == 5);
  auto const* const w = file.find("w");
  REQUIRE(w != nullptr);
  CHECK(w->type == dtype::f32);
  CHECK(w->shape == std::vector<std::int64_t>{2, 3});
  std::array<f32, 6> const values{1, 2, 3, -4, .5, 6};
  CHECK(w->bytes == sizeof values);
  CHECK(same_bytes(w->data, values.data(), sizeof values));
  CHECK(file.find("step")->shape.empty());
  CHECK(*static_cast<i64 const*>(file.find("step")->data) == 1000);
  CHECK(static_cast<i64 const*>(file.find("ids")->data)[1] == -2);
  CHECK(file.find("empty")->bytes == 0);
  CHECK(static_cast<bool const*>(file.find("flag")->data)[2]);
  CHECK(file.find("W") == nullptr);
}

TEST_CASE("write_safetensors: the bytes that Python's safetensors writes") {
  checkpoint_place place;
  auto const file = place.read(from_python);
  std::string const copy = place.folder / "copy.safetensors";
  io::write_safetensors(copy, file.tensors, file.metadata);
  CHECK(read_bytes(copy) == from_python);
}

TEST_CASE("write_safetensors: every dtype reads back, aligned to its elements") {
  checkpoint_place place;
  std::vector<io::stored_tensor> tensors;
  std::vector<std::string> data(dtype_count);
  for (int i = dtype_count - 1; i >= 0; --i) {
    auto const type = static_cast<dtype>(i);
    auto& bytes = data[static_cast<std::size_t>(i)];
    for (std::int64_t b = 0; b < 3 * size_of(type); ++b) {
      bytes += static_cast<char>(type == dtype::boolean ? b % 2 : b * 41 + i);
    }
    tensors.push_back(stored("blocks." + std::string(name_of(type)), type, {3, 1}, bytes));
  }
  tensors.push_back(stored("a \"quoted\"\n\u00fcnicode name", dtype::f32, {0}, ""));
  io::safetensors_metadata const texts{{"step", "12"}, {"empty", ""}, {"\u20ac", "\\ \" \t"}};
  io::write_safetensors(place.path, tensors, texts);
  auto const file = io::read_safetensors(place.path);
  CHECK(file.metadata == texts);
  REQUIRE(file.tensors.size() == tensors.size());
  for (auto const& tensor : tensors) {
    auto const* const found = file.find(tensor.name);
    REQUIRE(found != nullptr);
    CHECK(found->type == tensor.type);
    CHECK(found->shape == tensor.shape);
    REQUIRE(found->bytes == tensor.bytes);
    CHECK(same_bytes(found->data, tensor.data, static_cast<std::size_t>(tensor.bytes)));
    CHECK(reinterpret_cast<std::uintptr_t>(found->data) %
              static_cast<std::uintptr_t>(size_of(tensor.type)) ==
          0);
  }
}

TEST_CASE("write_safetensors: no tensors at all") {
  checkpoint_place place;
  io::write_safetensors(place.path, {});
  CHECK(io::read_safetensors(place.path).tensors.empty());
  CHECK(read_bytes(place.path) == file_bytes("{}      ", ""));
}

TEST_CASE("read_safetensors: a checkpoint cut at any byte is refused, one grown by a byte too") {
  checkpoint_place place;
  for (std::size_t kept = 0; kept < from_python.size(); ++kept) {
    write_bytes(place.path, from_python.substr(0, kept));
    CHECK_THROWS_AS((void)io::read_safetensors(place.path), io_error);
  }
  CHECK(contains(place.refusal(from_python.substr(0, from_python.size() - 1)), "cut short"));
  CHECK(contains(place.refusal(from_python + "x"), "something follows them"));
}

TEST_CASE("read_safetensors: a byte changed anywhere in the header never does more than refuse") {
  checkpoint_place place;
  for (std::size_t at = 0; at < 8 + 328; ++at) {
    std::string bytes = from_python;
    for (int const flipped : {0x01, 0x02, 0x04, 0x10, 0x80}) {
      bytes[at] = static_cast<char>(from_python[at] ^ flipped);
      write_bytes(place.path, bytes);
      try {
        auto const file = io::read_safetensors(place.path);
        for (auto const& tensor : file.tensors) (void)io::find_non_finite(tensor);
      } catch (io_error const&) {
      }
    }
  }
}

TEST_CASE("read_safetensors: data that is not where the format wants it") {
  checkpoint_place place;
  std::string const a = entry("a", "F32", "[2]", "[0,8]");
  place.refused("{" + a + "," + entry("b", "U8", "[4]", "[4,8]") + "}", "12345678", "overlap");
  place.refused("{" + a + "," + entry("b", "U8", "[1]", "[9,10]") + "}", "1234567890", "a gap");
  place.refused("{" + entry("b", "U8", "[1]", "[1,2]") + "}", "12", "tensor `b` has its data at 1");
  place.refused("{" + a + "}", "1234567", "tensor `a` has its data at 0 to 8");
  place.refused("{" + entry("a", "F32", "[3]", "[0,8]") + "}", "12345678",
                "tensor `a` has 8 bytes of data and its shape [3] of f32 takes 12");
  place.refused("{" + entry("a", "F32", "[2]", "[8,0]") + "}", "12345678", "data_offsets [8 0]");
  place.refused("{" + entry("a", "F32", "[2]", "[0]") + "}", "12345678", "data_offsets [0]");
  place.refused("{" + entry("a", "U8", "[9223372036854775807]", "[0,9223372036854775807]") + "}",
                "1", "the file has 1 bytes of data");
  place.refused("{" + entry("a", "F32", "[4294967296,4294967296]", "[0,0]") + "}", "",
                "more than 2^63 - 1 bytes");
  place.refused("{" + entry("a", "F32", "[4294967296,4294967296,0]", "[0,0]") + "}", "",
                "more than 2^63 - 1 bytes");
  place.refused("{" + entry("a", "BOOL", "[3]", "[0,3]") + "}", "\0\1\2"s,
                "tensor `a` is of BOOL and its element 2 is 2");
}

TEST_CASE("read_safetensors: headers that are not what the format says") {
  checkpoint_place place;
  std::string const a = entry("a", "U8", "[1]", "[0,1]");
  place.refused("{" + a + "," + a + "}", "1", "has `a` twice");
  place.refused(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "1",
                "has `dtype` twice");
  place.refused(R"({"a":{"dtype":"U8","shape":[1]}})", "1",
                "exactly dtype, shape and data_offsets");
  place.refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}})", "1", "exactly");
  place.refused(R"({"a":[1]})", "1", "exactly");
  place.refused("{" + entry("a", "U64", "[1]", "[0,8]") + "}", "12345678", "the dtype U64");
  place.refused(R"({"a":{"dtype":1,"shape":[1],"data_offsets":[0,1]}})", "1", "not a text");
  place.refused("{" + entry("a", "U8", "[-1]", "[0,1]") + "}", "1", "`-1` in its shape");
  place.refused("{" + entry("a", "U8", "[1.0]", "[0,1]") + "}", "1", "`1.0` in its shape");
  place.refused("{" + entry("a", "U8", "[18446744073709551615]", "[0,1]") + "}", "1",
                "in its shape");
  place.refused("{" + entry("a", "U8", "{}", "[0,1]") + "}", "1", "not a list");
  place.refused("{" + entry("a", "U8", "[[1]]", "[0,1]") + "}", "1", "nested deeper");
  place.refused("{" + entry("a", "U8", std::string(100'000, '['), "[0,1]") + "}", "1", "nested");
  place.refused(R"({"__metadata__":{"a":1}})", "", "the metadata of `a` is not a text");
  place.refused(R"({"__metadata__":[]})", "", "`__metadata__`");
  place.refused("{", "", "damaged");
  place.refused("[]", "", "does not begin with `{`");
  place.refused("", "", "does not begin with `{`");
  place.refused("{\"\xff\":1}", "", "damaged");
  CHECK(contains(place.refusal(""), "has 0 bytes"));
  CHECK(contains(place.refusal("In the beginning"), "no safetensors file"));
  CHECK(contains(place.refusal(std::string(8, '\xff')), "no safetensors file"));
  CHECK(contains(message_of<io_error>([&] { (void)io::read_safetensors(place.folder / "none"); }),
                 "No such file"));
}

TEST_CASE("write_safetensors: tensors that no file can hold are refused before it is touched") {
  checkpoint_place place;
  write_bytes(place.path, "old");
  auto const refused = [&](std::vector<io::stored_tensor> const& tensors, char const* part,
                           io::safetensors_metadata const& texts = {}) {
    std::string const text =
        message_of<value_error>([&] { io::write_safetensors(place.path, tensors, texts); });
    CHECK_MESSAGE(contains(text, part), text);
  };
  std::string const four = "1234";
  auto const good = stored("a", dtype::u8, {4}, four);
  refused({good, good}, "tensor `a` is given twice");
  refused({stored("", dtype::u8, {4}, four)}, "an empty name");
  refused({stored("__metadata__", dtype::u8, {4}, four)}, "keeps for texts");
  refused({stored("a\xff", dtype::u8, {4}, four)}, "not UTF-8");
  refused({stored("a", dtype::f32, {4}, four)}, "tensor `a` has 4 bytes");
  refused({stored("a", dtype::u8, {-4}, four)}, "a negative extent");
  refused({stored("a", dtype::u8, {std::int64_t{1} << 62, 4}, four)}, "2^63 - 1 bytes");
  refused({{"a", dtype::u8, {4}, nullptr, 4}}, "has no data");
  refused({good}, "the metadata of `text` is not UTF-8", {{"text", "\xff"}});
  CHECK(read_bytes(place.path) == "old");
  CHECK(place.folder.count() == 1);
}

TEST_CASE("find_non_finite: the first NaN or infinity of every floating dtype") {
  auto const first = [](dtype type, auto... bits) {
    std::array const values{bits...};
    return io::find_non_finite(
        {"x", type, {sizeof...(bits)}, values.data(), static_cast<std::int64_t>(sizeof values)});
  };
  double const inf = std::numeric_limits<double>::infinity();
  float const nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(first(dtype::f64, 1.0, -inf, inf) == 1);
  CHECK(!first(dtype::f64, 1.0, std::numeric_limits<double>::max()));
  CHECK(first(dtype::f32, 1.0f, 2.0f, nan) == 2);
  CHECK(!first(dtype::f32, 1.0f, std::numeric_limits<float>::lowest()));
  CHECK(first(dtype::f16, u16{0x7bff}, u16{0xfc00}) == 1);   // largest, -inf
  CHECK(first(dtype::bf16, u16{0x7f7f}, u16{0x7fc0}) == 1);  // largest, NaN
  CHECK(first(dtype::f8_e5m2, u8{0x7b}, u8{0x7c}) == 1);     // largest, inf
  CHECK(first(dtype::f8_e4m3, u8{0x7e}, u8{0xff}) == 1);     // largest, NaN
  CHECK(!first(dtype::i32, -1));
}
