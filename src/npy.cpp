#include <ricci/error/exceptions.hpp>
#include <ricci/io/atomic_file.hpp>
#include <ricci/io/npy.hpp>
#include "element_count.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cctype>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace ricci::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t largest_rank = 64;  // NumPy's own limit

struct numpy_name {
  dtype type;
  std::string_view letters;  // NumPy's kind and bytes, without the byte order
};
constexpr std::array<numpy_name, 10> numpy_names{{{dtype::f64, "f8"},
                                                  {dtype::f32, "f4"},
                                                  {dtype::f16, "f2"},
                                                  {dtype::i64, "i8"},
                                                  {dtype::i32, "i4"},
                                                  {dtype::i16, "i2"},
                                                  {dtype::i8, "i1"},
                                                  {dtype::u16, "u2"},
                                                  {dtype::u8, "u1"},
                                                  {dtype::boolean, "b1"}}};

/// Reads the header: a Python dictionary with the three keys descr, fortran_order and shape.
class header_reader {
 public:
  header_reader(std::string_view text, std::string const& path) : rest_(text), path_(path) {}

  void read(npy_array& array) {
    expect('{');
    bool has_order = false;
    bool has_shape = false;
    bool has_type = false;
    while (!take('}')) {
      std::string_view const key = string();
      expect(':');
      bool& seen = key == "descr"           ? has_type
                   : key == "fortran_order" ? has_order
                   : key == "shape"         ? has_shape
                                            : unknown(key);
      if (seen) fail(fmt::format("the header has the key `{}` twice", key));
      seen = true;
      if (key == "descr") {
        array.type = element_type();
      } else if (key == "shape") {
        array.shape = shape();
      } else if (boolean()) {
        fail(
            "the array is in Fortran order (fortran_order: True) and Ricci reads C order; save it "
            "with np.ascontiguousarray");
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (peek() != 0) fail("the header goes on after its dictionary; write the file again");
    if (!has_type || !has_order || !has_shape) {
      fail(fmt::format("the header has no key `{}`; write the file again",
                       !has_type ? "descr" : (!has_order ? "fortran_order" : "shape")));
    }
  }

 private:
  [[noreturn]] void fail(std::string_view fact) const {
    throw io_error(fmt::format("read_npy: `{}`: {}", path_, fact));
  }
  [[noreturn]] bool& unknown(std::string_view key) const {
    fail(fmt::format("the header has the unknown key `{}`; expected descr, fortran_order, shape",
                     key));
  }

  char peek() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
      rest_.remove_prefix(1);
    }
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool take(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) {
      fail(fmt::format("the header is damaged: expected `{}` before `{}`", c, rest_.substr(0, 20)));
    }
  }

  std::string_view string() {
    char const quote = peek() == '"' ? '"' : '\'';
    expect(quote);
    auto const end = rest_.find(quote);
    if (end == std::string_view::npos) fail("the header is damaged: a string does not end");
    std::string_view const value = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    peek();
    for (auto const& [text, value] :
         {std::pair{std::string_view("True"), true}, {"False", false}}) {
      if (rest_.starts_with(text)) {
        rest_.remove_prefix(text.size());
        return value;
      }
    }
    fail("the header is damaged: fortran_order is neither True nor False");
  }

  dtype element_type() {
    if (peek() == '[') {
      fail("the array has a structured dtype and Ricci reads plain numbers; save one field");
    }
    std::string_view const descr = string();
    std::string_view letters = descr;
    char order = '|';
    if (!letters.empty() && std::string_view("<>|=").find(letters[0]) != std::string_view::npos) {
      order = letters[0];
      letters.remove_prefix(1);
    }
    for (auto const& [type, name] : numpy_names) {
      if (letters != name) continue;
      if (order == '>' && size_of(type) > 1) {
        fail(
            fmt::format("the array is big-endian (dtype `{}`) and Ricci reads little-endian; save "
                        "it with .astype('<{}')",
                        descr, name));
      }
      return type;
    }
    fail(
        fmt::format("the dtype `{}` is not one that Ricci reads (f8 f4 f2 i8 i4 i2 i1 u2 u1 b1); "
                    "convert it with .astype",
                    descr));
  }

  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> extents;
    expect('(');
    while (!take(')')) {
      if (extents.size() == largest_rank) {
        fail(fmt::format("the shape has more than {} extents", largest_rank));
      }
      extents.push_back(extent());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return extents;
  }

  std::int64_t extent() {
    if (peek() < '0' || peek() > '9') {
      fail(fmt::format("the shape has no valid extent at `{}`; expected a number from 0 on",
                       rest_.substr(0, 20)));
    }
    std::int64_t value = 0;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1)) {
      if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
          __builtin_add_overflow(value, std::int64_t{rest_[0] - '0'}, &value)) {
        fail("an extent of the shape is larger than 2^63 - 1");
      }
    }
    if (!rest_.empty() && rest_[0] == 'L') rest_.remove_prefix(1);  // Python 2 wrote (3L, 4L)
    return value;
  }

  std::string_view rest_;
  std::string const& path_;
};

/// The number of header bytes and where they begin; the lengths are little-endian.
std::pair<std::int64_t, std::int64_t> header_place(mapped_file const& file) {
  auto const fail = [&](std::string_view fact) {
    throw io_error(fmt::format("read_npy: `{}`: {}", file.path(), fact));
  };
  auto const* const bytes = reinterpret_cast<unsigned char const*>(file.data());
  if (!is_npy({file.data(), static_cast<std::size_t>(file.size())})) {
    fail("not a .npy file: it does not begin with \\x93NUMPY; save it with np.save");
  }
  if (file.size() < 10) fail("the file is cut short in its header; write it again");
  int const version = bytes[6];
  if (version < 1 || version > 3) {
    fail(fmt::format("the format's version is {}.{} and Ricci reads 1, 2 and 3", version,
                     static_cast<int>(bytes[7])));
  }
  std::int64_t const begin = version == 1 ? 10 : 12;
  if (file.size() < begin) fail("the file is cut short in its header; write it again");
  std::int64_t length = 0;
  for (std::int64_t i = begin - 1; i >= 8; --i) length = length << 8 | bytes[i];
  if (length > file.size() - begin) {
    fail(
        fmt::format("the header says it has {} bytes and {} are left: the file is cut short; "
                    "write it again",
                    length, file.size() - begin));
  }
  return {begin, length};
}

}  // namespace

bool is_npy(std::span<std::byte const> bytes) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

npy_array read_npy(std::string path) {
  npy_array array;
  array.file = mapped_file(std::move(path));
  auto const& name = array.file.path();
  auto const [begin, length] = header_place(array.file);
  header_reader(
      {reinterpret_cast<char const*>(array.file.data()) + begin, static_cast<std::size_t>(length)},
      name)
      .read(array);
  array.offset = begin + length;

  auto const bytes = byte_count(array.shape, array.type);
  if (!bytes) {
    throw io_error(fmt::format("read_npy: `{}`: the shape ({}) of {} overflows 2^63 - 1 bytes",
                               name, fmt::join(array.shape, ", "), name_of(array.type)));
  }
  std::int64_t const present = array.file.size() - array.offset;
  if (present != *bytes) {
    throw io_error(fmt::format(
        "read_npy: `{}`: the shape ({}) of {} takes {} bytes and the file has {} after its header: "
        "{}; write it again",
        name, fmt::join(array.shape, ", "), name_of(array.type), *bytes, present,
        present < *bytes ? "it is cut short" : "something else follows the array"));
  }
  array.count = *bytes / size_of(array.type);
  if (array.type == dtype::boolean) {
    if (auto const place = find_no_boolean(array.data(), array.count)) {
      throw io_error(
          fmt::format("read_npy: `{}`: element {} of the bool array is {}; expected 0 or 1", name,
                      *place, static_cast<int>(array.data()[*place])));
    }
  }
  return array;
}

void write_npy(std::string const& path, dtype type, std::span<std::int64_t const> shape,
               void const* data) {
  std::string_view letters;
  for (auto const& entry : numpy_names) {
    if (entry.type == type) letters = entry.letters;
  }
  if (letters.empty()) {
    throw value_error(
        fmt::format("write_npy: NumPy has no dtype for {}; convert to f32 or write safetensors",
                    name_of(type)));
  }
  auto const bytes = byte_count(shape, type);
  if (!bytes || shape.size() > largest_rank) {
    throw value_error(fmt::format(
        "write_npy: the shape ({}) of {} has a negative extent, overflows 2^63 - 1 bytes or has "
        "more than {} extents",
        fmt::join(shape, ", "), name_of(type), largest_rank));
  }
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   size_of(type) == 1 ? '|' : '<', letters, fmt::join(shape, ", "),
                                   shape.size() == 1 ? "," : "");
  // The data begins at a multiple of 64, for readers that map the file; a newline ends the header.
  constexpr std::size_t prefix = 10;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';
  std::string start(magic);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
            static_cast<char>(header.size() >> 8)};
  atomic_file file(path);
  file.write(start + header);
  file.write(data, *bytes);
  file.commit();
}

}  // namespace ricci::io
