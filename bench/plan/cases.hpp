#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <ricci/tensor/dtype.hpp>

/// Files of contractions, and the options of the programs that read them.
namespace bench {

/// `name; ab,bc->ac; a=2 b=3 c=4`, or without a name.
struct contraction_case {
  std::string name;
  std::string equation;
  std::string groups[3];  // first, second, result
  std::map<char, std::int64_t> extents;
  double operations = 2;
};

[[noreturn]] inline void refuse(std::string const& what) { throw std::runtime_error(what); }

inline std::string trimmed(std::string const& text) {
  std::size_t const first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// A whole number, or a sentence that names what it is of.
inline std::int64_t whole_number(std::string const& what, std::string const& text) {
  std::size_t used = 0;
  std::int64_t value = -1;
  try {
    value = std::stoll(text, &used);
  } catch (std::exception const&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || value < 0)
    refuse(what + " is a whole number from 0 to 2^63 - 1, this is `" + text + "`");
  return value;
}

inline double positive_number(std::string const& what, std::string const& text) {
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (std::exception const&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || !(value >= 0 && value < 1e300))
    refuse(what + " is a number, at least 0, this is `" + text + "`");
  return value;
}

/// @pre the line is no comment and not empty
inline contraction_case read_case(std::string const& line) {
  contraction_case c;
  std::vector<std::string> parts;
  std::stringstream fields(line);
  for (std::string part; std::getline(fields, part, ';');) parts.push_back(trimmed(part));
  if (parts.size() < 2 || parts.size() > 3)
    refuse("a case is `name; ab,bc->ac; a=2 b=3 c=4`, this is `" + line + "`");
  c.name = parts[0];
  c.equation = parts[parts.size() - 2];
  auto const wrong = [&](std::string const& why) { refuse("`" + c.equation + "`: " + why); };
  std::size_t const comma = c.equation.find(',');
  std::size_t const arrow = c.equation.find("->");
  if (arrow == std::string::npos || comma > arrow ||
      c.equation.find_first_of(",>-", comma + 1) != arrow ||
      c.equation.find_first_of(",>-", arrow + 2) != std::string::npos)
    wrong("a contraction has two operands and one result: `ab,bc->ac`");
  c.groups[0] = c.equation.substr(0, comma);
  c.groups[1] = c.equation.substr(comma + 1, arrow - comma - 1);
  c.groups[2] = c.equation.substr(arrow + 2);
  std::stringstream extents(parts.back());
  for (std::string e; extents >> e;) {
    if (e.size() < 3 || e[1] != '=') wrong("an extent is written a=2, this is `" + e + "`");
    c.extents[e[0]] = whole_number("`" + c.equation + "`: the extent of " + e[0], e.substr(2));
  }
  for (int g = 0; g < 3; ++g)
    for (std::size_t i = 0; i < c.groups[g].size(); ++i) {
      char const letter = c.groups[g][i];
      std::string const index = std::string("index `") + letter + "`";
      if (letter < 'A' || letter > 'z' || (letter > 'Z' && letter < 'a'))
        wrong("an index is one letter, this is `" + std::string(1, letter) + "`");
      if (!c.extents.contains(letter)) wrong("the extent of " + index + " is missing");
      if (g == 2 && c.groups[g].find(letter, i + 1) != std::string::npos)
        wrong(index + " stands twice in the result");
      if (g == 2 && (c.groups[0] + c.groups[1]).find(letter) == std::string::npos)
        wrong(index + " of the result is in no operand");
    }
  for (auto const& [letter, extent] : c.extents) c.operations *= static_cast<double>(extent);
  return c;
}

/// All cases of a file; a line that is none is an error with its number.
inline std::vector<contraction_case> read_cases(std::string const& path) {
  std::ifstream file(path);
  std::vector<contraction_case> cases;
  std::string line;
  int number = 0;
  while (std::getline(file, line)) {
    ++number;
    line = trimmed(line);
    if (line.empty() || line[0] == '#') continue;
    try {
      cases.push_back(read_case(line));
    } catch (std::exception const& fault) {
      refuse(path + ":" + std::to_string(number) + ": " + fault.what());
    }
  }
  if (!file.eof()) refuse("cannot read `" + path + "`");
  if (cases.empty()) refuse("no case in `" + path + "`");
  return cases;
}

/// What both programs take; `other` is asked about every further option, and answers whether it
/// knows it.
struct case_options {
  std::string cases;
  ricci::dtype type = ricci::dtype::f32;
  int threads = 2;
  double budget = 0.1;  // seconds a case
  double least = 0;     // what a case has at least, of operations or bytes

  template <class Other> void read(int count, char** arguments, Other&& other) {
    for (int i = 1; i < count; ++i) {
      std::string const word = arguments[i];
      auto const value = [&]() -> std::string {
        if (i + 1 == count) refuse(word + " wants a value");
        return arguments[++i];
      };
      if (word == "--dtype") {
        std::string const name = value();
        if (name != "f32" && name != "f64" && name != "bf16")
          refuse("--dtype is f32, f64 or bf16, this is `" + name + "`");
        type = name == "f32"   ? ricci::dtype::f32
               : name == "f64" ? ricci::dtype::f64
                               : ricci::dtype::bf16;
      } else if (word == "--threads") {
        std::int64_t const wanted = whole_number(word, value());
        if (wanted < 1 || wanted > 4096) refuse("--threads is 1 to 4096");
        threads = static_cast<int>(wanted);
      } else if (word == "--budget") {
        budget = positive_number(word, value());
      } else if (word == "--least") {
        least = positive_number(word, value());
      } else if (!other(word, value)) {
        if (word.starts_with("--") || !cases.empty()) refuse("unknown argument `" + word + "`");
        cases = word;
      }
    }
    if (cases.empty()) refuse("a file of cases is missing");
  }
};

/// main of such a program: what is thrown becomes one line and the usage.
template <class Run> int run_main(char const* usage, int count, char** arguments, Run&& run) {
  std::string const first = count > 1 ? arguments[1] : "";
  if (first == "--help" || first == "-h") {
    std::printf("usage: %s\n", usage);
    return 0;
  }
  try {
    run();
    return 0;
  } catch (std::exception const& fault) {
    std::fprintf(stderr, "%s\nusage: %s\n", fault.what(), usage);
    return 2;
  }
}

}  // namespace bench
