#include "readable.hpp"

#include <cstdio>
#include <utility>

namespace gpt {
namespace {

std::string escaped(std::string_view bytes) {
  std::string text;
  for (char byte : bytes) {
    char code[8];
    std::snprintf(code, sizeof code, "\\x%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(byte)));
    text += code;
  }
  return text;
}

/// Bytes of the character that begins with this one; 0: none does.
std::size_t length_from(unsigned char first) {
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/// Whether the byte can come after the beginning of a character (Unicode 15, table 3-7: no overlong
/// forms, no surrogates, nothing past U+10FFFF).
bool follows(std::string const& beginning, unsigned char byte) {
  auto const first = static_cast<unsigned char>(beginning[0]);
  unsigned char low = 0x80, high = 0xbf;
  if (beginning.size() == 1) {
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  }
  return byte >= low && byte <= high;
}

}  // namespace

std::string Readable::add(char byte) {
  auto const code = static_cast<unsigned char>(byte);
  if (!pending_.empty() && follows(pending_, code)) {
    pending_ += byte;
    if (pending_.size() < length_from(static_cast<unsigned char>(pending_[0]))) return "";
    std::string const whole = std::exchange(pending_, "");
    bool const is_control = whole[0] == '\xc2' && code < 0xa0;  // U+0080 to U+009F
    return is_control ? escaped(whole) : whole;
  }
  std::string text = finish();
  if (length_from(code) > 0)
    pending_ = byte;
  else if (byte == '\n' || byte == '\t' || (code >= 0x20 && code < 0x7f))
    text += byte;
  else
    text += escaped({&byte, 1});
  return text;
}

std::string Readable::finish() { return escaped(std::exchange(pending_, "")); }

std::string readable(std::string_view bytes) {
  Readable converter;
  std::string text;
  for (char byte : bytes) text += converter.add(byte);
  return text + converter.finish();
}

}  // namespace gpt
