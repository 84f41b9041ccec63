#pragma once

#include <ricci/error/message.hpp>

#include <cstdint>
#include <string_view>

namespace ricci {

/// The operations that take a pattern.
enum class word : std::uint8_t { einsum, rearrange, reduce, repeat };

namespace detail {

constexpr char const* name_of(word w) {
  constexpr char const* names[] = {"einsum", "rearrange", "reduce", "repeat"};
  return names[static_cast<int>(w)];
}

/// Reads the characters of a pattern, from left to right:
///   pattern := group (',' group)* '->' group
///   group   := item*
///   item    := name | name '=' index | '...'
///   index   := name | '(' (name | integer)+ ')'
///   name    := [a-z_][a-z0-9_]* followed by any number of '
/// A refusal returns false; where `why` is given it writes the sentence and marks the place.
class scanner {
 protected:
  constexpr scanner(word w, std::string_view text, message* why)
      : word_(w), text_(text), why_(why) {}

  constexpr message& because() { return *why_ << name_of(word_) << ": "; }
  /// The pattern with the place marked: `i k -> i >>k<<`.
  constexpr void show_place(int begin, int end) {
    *why_ << ", in `" << text_.substr(0, begin) << ">>" << text_.substr(begin, end - begin) << "<<"
          << text_.substr(end) << "`";
  }
  constexpr bool fail_at(std::string_view fact, int begin, int end) {
    if (why_) {
      because() << fact;
      show_place(begin, end);
    }
    return false;
  }

  constexpr int size() const { return static_cast<int>(text_.size()); }
  /// The next character that is no space, '\0' at the end.
  constexpr char peek() {
    while (at_ < size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < size() ? text_[at_] : '\0';
  }
  constexpr bool at_arrow() { return peek() == '-' && at_ + 1 < size() && text_[at_ + 1] == '>'; }
  constexpr bool at_group_end() {
    char const c = peek();
    return c == '\0' || c == ',' || at_arrow();
  }
  static constexpr bool starts_name(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

  constexpr std::string_view scan_name() {
    int const begin = at_;
    while (at_ < size() && (starts_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    while (at_ < size() && text_[at_] == '\'') ++at_;
    return text_.substr(begin, at_ - begin);
  }
  constexpr bool scan_number(std::int64_t& value) {
    int const begin = at_;
    value = 0;
    while (at_ < size() && is_digit(text_[at_])) {
      value = value * 10 + (text_[at_++] - '0');
      if (value > (std::int64_t{1} << 40)) return fail_at("a number beyond 2^40", begin, at_);
    }
    return true;
  }
  constexpr bool scan_dots() {
    if (at_ + 2 < size() && text_[at_ + 1] == '.' && text_[at_ + 2] == '.') {
      at_ += 3;
      return true;
    }
    return fail_at("an ellipsis has three dots", at_, at_ + 1);
  }
  /// How many commas stand between here and the arrow.
  constexpr int commas_left() const {
    int more = 0;
    for (int i = at_; i < size() && text_[i] != '-'; ++i)
      if (text_[i] == ',') ++more;
    return more;
  }

  /// Says why no item of the grammar begins here.
  constexpr bool unexpected() {
    int const begin = at_;
    char const c = text_[begin];
    if (c == '(')
      return fail_at("parentheses hold the factors of an axis: write `axis=(p q)`", begin,
                     begin + 1);
    if (c == ')') return fail_at("a `)` without its `(`", begin, begin + 1);
    if (c == '=')
      return fail_at("the left of `=` is an axis, its right an index", begin, begin + 1);
    if (c == '-' || c == '>') return fail_at("an arrow is written `->`", begin, begin + 1);
    if (is_digit(c)) {
      while (at_ < size() && is_digit(text_[at_])) ++at_;
      return fail_at("a number stands for no axis by itself: write `axis=(p 2)`", begin, at_);
    }
    if (c >= 'A' && c <= 'Z') {
      while (at_ < size() && ((text_[at_] >= 'A' && text_[at_] <= 'Z') || starts_name(text_[at_]) ||
                              is_digit(text_[at_])))
        ++at_;
      return fail_at(
          "names are of small letters, digits and `_` (the name of the axis, not of its type)",
          begin, at_);
    }
    return fail_at("a character that patterns do not have", begin, begin + 1);
  }

  word word_;
  std::string_view text_;
  message* why_;
  int at_ = 0;
};

}  // namespace detail
}  // namespace ricci
