#pragma once

#include <string>
#include <string_view>

namespace gpt {

/// Turns bytes, as they come, into text that any terminal may be sent: whole UTF-8 characters,
/// lines and tabs as they are, every other byte as \x1b.
class Readable {
 public:
  /// What can be shown now that this byte is known.
  std::string add(char byte);
  /// What is left: the bytes of a character that was cut off.
  std::string finish();

 private:
  std::string pending_;  // the beginning of a character
};

std::string readable(std::string_view bytes);

}  // namespace gpt
