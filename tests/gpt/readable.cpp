#include "examples/gpt/readable.hpp"

#include <doctest/doctest.h>

using gpt::readable;

TEST_CASE("readable: text stays, also in other scripts") {
  for (char const* text : {"", "In the beginning\n\tGod", "\xc3\xa9", "\xe2\x82\xac",
                           "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf", "\xee\x80\x80", "\xc2\xa0"})
    CHECK(readable(text) == text);
}

TEST_CASE("readable: what would move the cursor or colour the terminal is escaped") {
  CHECK(readable("a\x1b[2Jb\r\x7f") == "a\\x1b[2Jb\\x0d\\x7f");
  CHECK(readable(std::string_view("\0", 1)) == "\\x00");
  CHECK(readable("\xc2\x9b") == "\\xc2\\x9b");  // U+009B begins a control sequence, as ESC [ does
}

TEST_CASE("readable: bytes that are no UTF-8 are escaped, those around them stay") {
  CHECK(readable("\x80 a") == "\\x80 a");
  CHECK(readable("\xc3(") == "\\xc3(");         // a second byte is missing
  CHECK(readable("\xe2\x82") == "\\xe2\\x82");  // the end comes first
  CHECK(readable("\xe2\x82\xc3\xa9") == "\\xe2\\x82\xc3\xa9");
  CHECK(readable("\xc0\xaf") == "\\xc0\\xaf");           // overlong
  CHECK(readable("\xe0\x9f\xbf") == "\\xe0\\x9f\\xbf");  // overlong
  CHECK(readable("\xf0\x8f\xbf\xbf") == "\\xf0\\x8f\\xbf\\xbf");
  CHECK(readable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(readable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // past U+10FFFF
  CHECK(readable("\xf5\xff") == "\\xf5\\xff");
}

TEST_CASE(
    "readable: every pair of bytes is itself or escaped, and the first does not eat the second") {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 128; ++second) {
      char const bytes[] = {static_cast<char>(first), static_cast<char>(second)};
      CHECK(readable({bytes, 2}) == readable({bytes, 1}) + readable({bytes + 1, 1}));
    }
}
