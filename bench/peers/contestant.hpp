#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

/// What the programs that race each other share: a case, its data, and the conversation over stdin
/// and stdout by which bench/report/race.py runs them in turns, one line each way:
///   case NAME; ab,bc->ac; a=2 b=3 c=4   prepares the case; what each contestant is, or why it
///   skips check CONTESTANT                    runs once; samples of the result time CONTESTANT
///   SECONDS WARM        runs WARM times, then until SECONDS have passed; the times
namespace peers {

/// A contraction of two operands, one letter an index.
struct contraction {
  std::string text;  // `ab,bc->ac; a=2 b=3 c=4`
  std::string equation;
  std::string first, second, result;
  std::map<char, std::int64_t> extents;

  std::int64_t count(std::string const& group) const {
    std::int64_t product = 1;
    for (char const letter : group) product *= extents.at(letter);
    return product;
  }
};

inline bool has(std::string const& group, char letter) {
  return group.find(letter) != std::string::npos;
}

/// Indices by what they do, in the order of the operand named: m and k in the first, batch and n
/// in the second.
struct index_roles {
  std::string batch, m, n, k;

  explicit index_roles(contraction const& c) {
    for (char const letter : c.first)
      (!has(c.second, letter) ? m : !has(c.result, letter) ? k : batch) += letter;
    for (char const letter : c.second)
      if (!has(c.first, letter)) n += letter;
    for (std::string const* group : {&c.first, &c.second, &c.result})
      for (std::size_t i = 0; i < group->size(); ++i)
        if (has(group->substr(i + 1), (*group)[i])) throw std::runtime_error("a diagonal");
    for (char const letter : m + n)
      if (!has(c.result, letter)) throw std::runtime_error("an index that one operand alone has");
  }
};

/// Axes of `from` in the order of `to`, as positions.
inline std::vector<int> positions(std::string const& from, std::string const& to) {
  std::vector<int> order;
  for (char const letter : to) order.push_back(static_cast<int>(from.find(letter)));
  return order;
}

inline contraction read_case(std::string const& line) {
  contraction c;
  c.text = line.substr(line.find(';') + 2);
  c.equation = c.text.substr(0, c.text.find(';'));
  std::size_t const comma = c.equation.find(',');
  std::size_t const arrow = c.equation.find("->");
  c.first = c.equation.substr(0, comma);
  c.second = c.equation.substr(comma + 1, arrow - comma - 1);
  c.result = c.equation.substr(arrow + 2);
  std::stringstream extents(c.text.substr(c.text.find(';') + 1));
  for (std::string e; extents >> e;) c.extents[e[0]] = std::stoll(e.substr(2));
  return c;
}

/// The same numbers in every contestant, torch_peer.py included: exact in f32.
inline float value_of(int operand, std::int64_t i) {
  return operand == 0 ? static_cast<float>(i * 37 % 101 - 50) / 64
                      : static_cast<float>(i * 53 % 97 - 48) / 64;
}
template <class T> void fill(T* to, std::int64_t count, int operand) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(value_of(operand, i));
}

/// Where results are compared: 512 places all over them.
inline std::int64_t sample_place(int j, std::int64_t count) { return j * 1000003LL % count; }
inline constexpr int sample_count = 512;

template <class T> std::vector<double> samples_of(T const* result, std::int64_t count) {
  std::vector<double> samples;
  for (int j = 0; count > 0 && j < sample_count; ++j)
    samples.push_back(static_cast<double>(static_cast<float>(result[sample_place(j, count)])));
  return samples;
}

/// One way to compute a case.
struct contestant {
  virtual ~contestant() = default;
  virtual void run() = 0;
  virtual std::vector<double> samples() = 0;
  virtual nlohmann::ordered_json facts() { return nlohmann::ordered_json::object(); }
};
using contestant_handle = std::unique_ptr<contestant>;

/// Why a contestant does not take part in a case.
struct skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Makes the contestants of a case, those of one process together.
using maker = std::function<contestant_handle(contraction const&)>;

inline double seconds_of(contestant& x) {
  auto const begin = std::chrono::steady_clock::now();
  x.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Answers lines until stdin ends. Makers run in their order: a later one may look at an earlier
/// one's case.
inline int serve(std::vector<std::pair<std::string, maker>> const& makers) {
  std::map<std::string, contestant_handle> all;
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::ordered_json answer;
    try {
      std::stringstream words(line);
      std::string command, name;
      words >> command;
      if (command == "case") {
        all.clear();
        contraction const c = read_case(line.substr(5));
        for (auto const& [which, make] : makers) {
          try {
            all[which] = make(c);
            answer[which] = all[which]->facts();
          } catch (std::exception const& why) {
            all.erase(which);
            answer[which] = {{"skipped", why.what()}};
          }
        }
      } else if (command == "check") {
        words >> name;
        answer["seconds"] = seconds_of(*all.at(name));
        answer["samples"] = all.at(name)->samples();
      } else if (command == "time") {
        double seconds = 0;
        int warm = 0;
        words >> name >> seconds >> warm;
        contestant& x = *all.at(name);
        for (; warm > 0; --warm) x.run();
        std::vector<double> times;
        for (double total = 0; times.empty() || (total < seconds && times.size() < 2000);
             total += times.back())
          times.push_back(seconds_of(x));
        answer["seconds"] = times;
      } else {
        throw std::runtime_error("unknown command `" + line + "`");
      }
    } catch (std::exception const& fault) {
      answer = {{"error", fault.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

}  // namespace peers
