#pragma once

#include <ricci/axis/axis.hpp>

#include <cstdint>
#include <string_view>

/// Sentences built while compiling, and at run time by the same functions.
namespace ricci {

/// A sentence under construction. What does not fit is cut off.
struct message {
  static constexpr int capacity = 480;
  char text[capacity + 1]{};
  int size = 0;

  constexpr message& operator<<(std::string_view part) {
    for (char c : part)
      if (size < capacity) text[size++] = c;
    return *this;
  }
  constexpr message& operator<<(std::int64_t number) {
    char digits[20]{};
    int count = 0;
    bool const negative = number < 0;
    do {
      int const digit = static_cast<int>(number % 10);
      digits[count++] = static_cast<char>('0' + (digit < 0 ? -digit : digit));
      number /= 10;
    } while (number != 0);
    if (negative) *this << "-";
    while (count > 0) *this << std::string_view(&digits[--count], 1);
    return *this;
  }
  constexpr message& operator<<(int number) { return *this << static_cast<std::int64_t>(number); }

  /// `name` in backticks (compilers print ' as \').
  constexpr message& quote(std::string_view name) { return *this << "`" << name << "`"; }

  constexpr std::string_view view() const { return {text, static_cast<std::size_t>(size)}; }
};

namespace detail {

/// The names of axes as a list: `batch seq hidden`; nothing for no axes.
constexpr void write_axes(message& out, axis_info const* const* axes, int rank) {
  for (int i = 0; i < rank; ++i) {
    if (i > 0) out << " ";
    out << axes[i]->view();
  }
}
constexpr void write_axes(message& out, axes_list const& list) {
  write_axes(out, list.axes, list.rank);
}
/// ` (it has: batch seq hidden)`.
constexpr void write_has(message& out, axes_list const& list) {
  if (list.rank == 0) {
    out << " (it is a scalar)";
    return;
  }
  out << " (it has: ";
  write_axes(out, list);
  out << ")";
}

/// Where an axis stands, in words: `operand 2`, `the annotation`.
struct place_name {
  std::string_view text;
  int number = 0;  // 0: none

  friend constexpr message& operator<<(message& out, place_name const& place) {
    out << place.text;
    if (place.number > 0) out << " " << place.number;
    return out;
  }
};
constexpr place_name operand_place(int place) { return {"operand", place + 1}; }

/// Two axis types of one name have met: their extents where those differ, else the rule.
constexpr void write_two_types(message& out, std::string_view who, axis_info const* a,
                               place_name in_a, axis_info const* b, place_name in_b) {
  if (a->extent >= 0 && b->extent >= 0 && a->extent != b->extent) {
    out << who << ": axis ";
    out.quote(a->view()) << " has extent " << a->extent << " in " << in_a << " and " << b->extent
                         << " in " << in_b;
    return;
  }
  out << who << ": two axis types are named ";
  out.quote(a->view()) << " (in " << in_a << " and " << in_b << "): one name is one type";
}

/// Writes that sentence for the first name which two lists have by different types.
/// @return is there one?
constexpr bool write_name_clash(message& out, std::string_view who, axes_list const& a,
                                place_name in_a, axes_list const& b, place_name in_b) {
  for (int i = 0; i < a.rank; ++i)
    for (int j = 0; j < b.rank; ++j) {
      if (is_same_axis(a.axes[i], b.axes[j]) || a.axes[i]->view() != b.axes[j]->view()) continue;
      write_two_types(out, who, a.axes[i], in_a, b.axes[j], in_b);
      return true;
    }
  return false;
}

/// Number of single-character edits between two names.
constexpr int edit_distance(std::string_view a, std::string_view b) {
  int row[64]{};
  if (a.size() >= 63 || b.size() >= 63) return 64;
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      int const above = row[j];
      int best = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      if (above + 1 < best) best = above + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
      diagonal = above;
    }
  }
  return row[b.size()];
}

/// Is `candidate` near enough to `name` to be suggested?
constexpr bool is_near(std::string_view name, std::string_view candidate) {
  int const longer =
      static_cast<int>(name.size() > candidate.size() ? name.size() : candidate.size());
  int const distance = edit_distance(name, candidate);
  return distance <= 1 ? longer > 1 : (distance == 2 ? longer > 4 : distance * 3 <= longer);
}

/// Appends `; did you mean `x`?` where one of the axes has a name near the wrong one.
/// @return was there one?
constexpr bool suggest(message& out, std::string_view wrong, axes_list const& among) {
  int best = 64;
  int at = -1;
  for (int i = 0; i < among.rank; ++i) {
    int const distance = edit_distance(wrong, among.axes[i]->view());
    if (distance > 0 && distance < best && is_near(wrong, among.axes[i]->view())) {
      best = distance;
      at = i;
    }
  }
  if (at < 0) return false;
  out << "; did you mean ";
  out.quote(among.axes[at]->view()) << "?";
  return true;
}

/// A finished sentence, exactly as long as its text: it becomes a template argument.
template <int Size> struct sentence {
  char text[Size + 1]{};

  constexpr explicit sentence(message const& m) {
    for (int i = 0; i < Size; ++i) text[i] = m.text[i];
    text[Size] = '\0';  // written, or clang prints numbers for lengths that are powers of two
  }
  constexpr explicit sentence(char const (&literal)[Size + 1]) {
    for (int i = 0; i < Size; ++i) text[i] = literal[i];
    text[Size] = '\0';
  }
  constexpr std::string_view view() const { return {text, Size}; }
  static constexpr bool holds() { return false; }
};
template <std::size_t N> sentence(char const (&)[N]) -> sentence<static_cast<int>(N) - 1>;

/// Never defined: its name is the message that g++ prints.
template <sentence S> struct rejected;

template <sentence S>
concept accepted = S.holds();

/// Fails to compile with one `error:` and the sentence in it (g++, and clang from C++26 on) or in
/// the note below it (clang). Called in functions only: a class that fails would drag others along.
template <sentence S> constexpr void refuse() {
#if defined(__cpp_static_assert) && __cpp_static_assert >= 202306L
  static_assert(accepted<S>, S.view());
#elif defined(__CUDACC__)
  // nvcc prints the types of a rule by name, but a sentence letter by letter.
  static_assert(accepted<S>,
                "ricci refuses this: Rule= below names the rule and the types, S= spells why");
#elif defined(__clang__)
  static_assert(accepted<S>, "ricci refuses this: the note with `evaluated to false` says why");
#else
  rejected<S>::stop();
#endif
}

/// A rule is a class with `static constexpr bool check(message* why)`: whether it is kept; where it
/// is not and `why` is given, the sentence is written. The accepting path never builds a sentence.
template <class Rule> inline constexpr bool keeps = Rule::check(nullptr);

/// Fails to compile with the sentence of a rule that is broken. A statement, never a condition.
template <class Rule> constexpr void refuse_by() {
  constexpr message written = [] {
    message m;
    Rule::check(&m);
    return m;
  }();
  constexpr sentence<written.size> exact(written);
  refuse<exact>();
}

}  // namespace detail
}  // namespace ricci
