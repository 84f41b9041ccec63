#include <ricci/error/exceptions.hpp>
#include <ricci/io/atomic_file.hpp>
#include <ricci/io/safetensors.hpp>
#include "element_count.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <utility>

namespace ricci::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

using json = nlohmann::json;

constexpr std::int64_t length_bytes = 8;              // the header's length stands first
constexpr std::int64_t largest_header = 100'000'000;  // bytes; the format's own limit
constexpr std::string_view metadata_key = "__metadata__";

struct format_name {
  dtype type;
  std::string_view name;
};
constexpr std::array<format_name, dtype_count> format_names{{{dtype::f64, "F64"},
                                                             {dtype::f32, "F32"},
                                                             {dtype::f16, "F16"},
                                                             {dtype::bf16, "BF16"},
                                                             {dtype::f8_e4m3, "F8_E4M3"},
                                                             {dtype::f8_e5m2, "F8_E5M2"},
                                                             {dtype::i64, "I64"},
                                                             {dtype::i32, "I32"},
                                                             {dtype::i16, "I16"},
                                                             {dtype::i8, "I8"},
                                                             {dtype::u16, "U16"},
                                                             {dtype::u8, "U8"},
                                                             {dtype::boolean, "BOOL"}}};

std::string_view format_name_of(dtype type) {
  for (auto const& entry : format_names) {
    if (entry.type == type) return entry.name;
  }
  return "";
}

std::string shape_text(std::vector<std::int64_t> const& shape) {
  return fmt::format("[{}]", fmt::join(shape, " "));
}

/// The header's JSON text of a string; throws when it is not UTF-8.
std::string quoted(std::string const& text, std::string_view what) {
  try {
    return json(text).dump();
  } catch (json::exception const&) {
    throw value_error(
        fmt::format("write_safetensors: {} is not UTF-8 text; JSON holds no other", what));
  }
}

void check(std::span<stored_tensor const> tensors) {
  std::set<std::string_view> names;
  for (auto const& tensor : tensors) {
    auto const fail = [&](std::string_view fact) {
      throw value_error(fmt::format("write_safetensors: tensor `{}` {}", tensor.name, fact));
    };
    if (tensor.name.empty()) fail("has an empty name; name every tensor");
    if (tensor.name == metadata_key)
      fail("has the name that the format keeps for texts; rename it");
    if (!names.insert(tensor.name).second) fail("is given twice; rename one of them");
    auto const bytes = byte_count(tensor.shape, tensor.type);
    if (!bytes) {
      fail(fmt::format("has the shape {}: a negative extent or more than 2^63 - 1 bytes",
                       shape_text(tensor.shape)));
    }
    if (*bytes != tensor.bytes) {
      fail(fmt::format("has {} bytes and its shape {} of {} takes {}", tensor.bytes,
                       shape_text(tensor.shape), name_of(tensor.type), *bytes));
    }
    if (tensor.bytes > 0 && tensor.data == nullptr) fail("has no data; evaluate it first");
  }
}

std::string header_of(std::span<stored_tensor const* const> ordered,
                      safetensors_metadata const& metadata) {
  std::string header = "{";
  auto const separate = [&] { header += header.size() > 1 ? "," : ""; };
  if (!metadata.empty()) {
    header += fmt::format("\"{}\":{{", metadata_key);
    for (bool is_first = true; auto const& [key, value] : metadata) {
      header += fmt::format("{}{}:{}", std::exchange(is_first, false) ? "" : ",",
                            quoted(key, "a key of the metadata"),
                            quoted(value, fmt::format("the metadata of `{}`", key)));
    }
    header += "}";
  }
  std::int64_t offset = 0;
  for (auto const* const tensor : ordered) {
    separate();
    std::int64_t end = 0;
    if (__builtin_add_overflow(offset, tensor->bytes, &end)) {
      throw value_error("write_safetensors: the tensors take more than 2^63 - 1 bytes together");
    }
    header +=
        fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                    quoted(tensor->name, fmt::format("the name of tensor `{}`", tensor->name)),
                    format_name_of(tensor->type), fmt::join(tensor->shape, ","), offset, end);
    offset = end;
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');  // the data begins at a multiple of 8
  if (static_cast<std::int64_t>(header.size()) > largest_header) {
    throw value_error(fmt::format(
        "write_safetensors: the header takes {} bytes and the format allows {}; write fewer names "
        "and texts",
        header.size(), largest_header));
  }
  return header;
}

/// Parses and checks the header of one file.
class header_reader {
 public:
  explicit header_reader(safetensors_file& result) : result_(result) {}

  void read() {
    std::int64_t const size = result_.file.size();
    if (size < length_bytes) {
      fail(fmt::format(
          "it has {} bytes and a safetensors file begins with 8 that give the length of "
          "its header: it is cut short",
          size));
    }
    std::uint64_t length = 0;
    std::memcpy(&length, result_.file.data(), sizeof length);
    if (length > static_cast<std::uint64_t>(largest_header)) {
      fail(fmt::format(
          "its first 8 bytes give a header of {} bytes and the format allows {}: this is "
          "no safetensors file",
          length, largest_header));
    }
    data_begin_ = length_bytes + static_cast<std::int64_t>(length);
    if (data_begin_ > size) {
      fail(fmt::format("its header has {} bytes and the file {} in all: it is cut short", length,
                       size));
    }
    auto const* const text = reinterpret_cast<char const*>(result_.file.data()) + length_bytes;
    json const header = parse({text, static_cast<std::size_t>(length)});
    for (auto const& [name, facts] : header.items()) {
      if (name == metadata_key) {
        read_metadata(facts);
      } else {
        read_tensor(name, facts);
      }
    }
    place();
  }

 private:
  [[noreturn]] void fail(std::string_view fact) const {
    throw io_error(fmt::format("read_safetensors: `{}`: {}", result_.file.path(), fact));
  }
  [[noreturn]] void fail(std::string_view tensor, std::string_view fact) const {
    fail(fmt::format("tensor `{}` {}", tensor, fact));
  }

  [[nodiscard]] json parse(std::string_view text) const {
    if (!text.starts_with('{')) {
      fail("its header does not begin with `{`: this is no safetensors file");
    }
    // The parser keeps the last of equal keys and nests without end; the format allows neither.
    std::vector<std::set<std::string>> keys;
    auto const watch = [&](int depth, json::parse_event_t event, json& value) {
      if (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start) {
        if (depth > 2) fail("its header is nested deeper than the format allows");
        keys.resize(static_cast<std::size_t>(depth) + 1);
        keys.back().clear();
      } else if (event == json::parse_event_t::key) {
        auto const& key = value.get_ref<std::string const&>();
        if (!keys[static_cast<std::size_t>(depth) - 1].insert(key).second) {
          fail(fmt::format("its header has `{}` twice", key));
        }
      }
      return true;
    };
    try {
      return json::parse(text.begin(), text.end(), watch);
    } catch (json::exception const& error) {
      fail(fmt::format("its header is damaged: {}", error.what()));
    }
  }

  void read_metadata(json const& texts) {
    if (!texts.is_object()) fail("the `__metadata__` of its header is not an object of texts");
    for (auto const& [key, value] : texts.items()) {
      if (!value.is_string()) fail(fmt::format("the metadata of `{}` is not a text", key));
      result_.metadata.emplace(key, value.get<std::string>());
    }
  }

  void read_tensor(std::string const& name, json const& facts) {
    if (!facts.is_object() || facts.size() != 3 || !facts.contains("dtype") ||
        !facts.contains("shape") || !facts.contains("data_offsets")) {
      fail(name, "does not have exactly dtype, shape and data_offsets in the header");
    }
    stored_tensor tensor;
    tensor.name = name;
    tensor.type = type_of(name, facts["dtype"]);
    tensor.shape = numbers(name, "shape", facts["shape"]);
    auto const offsets = numbers(name, "data_offsets", facts["data_offsets"]);
    auto const bytes = byte_count(tensor.shape, tensor.type);
    if (!bytes) {
      fail(name, fmt::format("has the shape {} of {}, more than 2^63 - 1 bytes",
                             shape_text(tensor.shape), name_of(tensor.type)));
    }
    if (offsets.size() != 2 || offsets[0] > offsets[1]) {
      fail(name, fmt::format("has the data_offsets {}; expected a begin and an end after it",
                             shape_text(offsets)));
    }
    tensor.bytes = offsets[1] - offsets[0];
    if (tensor.bytes != *bytes) {
      fail(name, fmt::format("has {} bytes of data and its shape {} of {} takes {}", tensor.bytes,
                             shape_text(tensor.shape), name_of(tensor.type), *bytes));
    }
    begins_.emplace_back(offsets[0], result_.tensors.size());
    result_.tensors.push_back(std::move(tensor));
  }

  [[nodiscard]] dtype type_of(std::string const& tensor, json const& name) const {
    if (!name.is_string()) fail(tensor, "has a dtype that is not a text");
    for (auto const& entry : format_names) {
      if (name.get_ref<std::string const&>() == entry.name) return entry.type;
    }
    fail(tensor, fmt::format("has the dtype {}, which Ricci does not have; convert it first",
                             name.get_ref<std::string const&>()));
  }

  [[nodiscard]] std::vector<std::int64_t> numbers(std::string const& tensor, std::string_view key,
                                                  json const& list) const {
    if (!list.is_array()) fail(tensor, fmt::format("has a {} that is not a list", key));
    std::vector<std::int64_t> values;
    for (auto const& item : list) {
      if (!item.is_number_unsigned() || item.get<std::uint64_t>() >> 63 != 0) {
        fail(tensor, fmt::format("has `{}` in its {}; expected whole numbers from 0 to 2^63 - 1",
                                 item.dump(-1, ' ', false, json::error_handler_t::replace), key));
      }
      values.push_back(static_cast<std::int64_t>(item.get<std::uint64_t>()));
    }
    return values;
  }

  /// Every byte after the header belongs to exactly one tensor.
  void place() {
    std::sort(begins_.begin(), begins_.end(), [&](auto const& a, auto const& b) {
      auto const key = [&](auto const& entry) {
        return std::tuple(entry.first, result_.tensors[entry.second].bytes, entry.second);
      };
      return key(a) < key(b);
    });
    std::vector<stored_tensor> ordered;
    std::int64_t const present = result_.file.size() - data_begin_;
    std::int64_t end = 0;
    for (auto const& [begin, index] : begins_) {
      auto& tensor = result_.tensors[index];
      if (begin != end) {
        fail(tensor.name, fmt::format("has its data at {} and the data before it ends at {}: {}",
                                      begin, end, begin < end ? "they overlap" : "there is a gap"));
      }
      end = begin + tensor.bytes;  // both offsets were below 2^63
      if (end > present) {
        fail(tensor.name, fmt::format("has its data at {} to {} and the file has {} bytes of data: "
                                      "it is cut short",
                                      begin, end, present));
      }
      tensor.data = result_.file.data() + data_begin_ + begin;
      if (tensor.type == dtype::boolean) {
        auto const* const bytes = static_cast<std::byte const*>(tensor.data);
        if (auto const wrong = find_no_boolean(bytes, tensor.bytes)) {
          fail(tensor.name, fmt::format("is of BOOL and its element {} is {}; expected 0 or 1",
                                        *wrong, static_cast<int>(bytes[*wrong])));
        }
      }
      ordered.push_back(std::move(tensor));
    }
    if (end != present) {
      fail(
          fmt::format("its tensors have {} bytes and the file has {} after the header: something "
                      "follows them",
                      end, present));
    }
    result_.tensors = std::move(ordered);
  }

  safetensors_file& result_;
  std::int64_t data_begin_ = 0;
  std::vector<std::pair<std::int64_t, std::size_t>> begins_;  // begin, index in tensors
};

/// First element whose bits masked by `exponent` are `exponent`: NaN or infinity.
template <class Bits>
std::optional<std::int64_t> find_exponent(stored_tensor const& tensor, Bits exponent) {
  auto const* const bytes = static_cast<std::byte const*>(tensor.data);
  std::int64_t const count = tensor.bytes / static_cast<std::int64_t>(sizeof(Bits));
  for (std::int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, bytes + i * static_cast<std::int64_t>(sizeof(Bits)), sizeof(Bits));
    if ((bits & exponent) == exponent) return i;
  }
  return std::nullopt;
}

}  // namespace

stored_tensor const* safetensors_file::find(std::string_view name) const {
  auto const place = std::find_if(tensors.begin(), tensors.end(),
                                  [&](auto const& tensor) { return tensor.name == name; });
  return place == tensors.end() ? nullptr : &*place;
}

void write_safetensors(std::string const& path, std::span<stored_tensor const> tensors,
                       safetensors_metadata const& metadata) {
  check(tensors);
  std::vector<stored_tensor const*> ordered;
  for (std::int64_t const size : {8, 4, 2, 1}) {
    for (auto const& tensor : tensors) {
      if (size_of(tensor.type) == size) ordered.push_back(&tensor);
    }
  }
  std::string const header = header_of(ordered, metadata);
  std::uint64_t const length = header.size();
  atomic_file file(path);
  file.write(&length, sizeof length);
  file.write(header);
  for (auto const* const tensor : ordered) file.write(tensor->data, tensor->bytes);
  file.commit();
}

safetensors_file read_safetensors(std::string path) {
  safetensors_file result;
  result.file = mapped_file(std::move(path));
  header_reader(result).read();
  return result;
}

std::optional<std::int64_t> find_non_finite(stored_tensor const& tensor) {
  switch (tensor.type) {
    case dtype::f64:
      return find_exponent<std::uint64_t>(tensor, 0x7ff0'0000'0000'0000);
    case dtype::f32:
      return find_exponent<std::uint32_t>(tensor, 0x7f80'0000);
    case dtype::f16:
      return find_exponent<std::uint16_t>(tensor, 0x7c00);
    case dtype::bf16:
      return find_exponent<std::uint16_t>(tensor, 0x7f80);
    case dtype::f8_e5m2:
      return find_exponent<std::uint8_t>(tensor, 0x7c);
    case dtype::f8_e4m3:
      return find_exponent<std::uint8_t>(tensor, 0x7f);  // has no infinity
    default:
      return std::nullopt;
  }
}

}  // namespace ricci::io
