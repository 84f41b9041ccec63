// Runs the contractions that are registered with the program (typed.hpp), each in f64, f32 and
// bf16, against the references.
//
// usage: contractions_NAME [--largest N] [--times] [number...]
//   --largest N   leave out contractions of more than N products or elements
//   --times       also print the seconds of each
//   number...     only these cases
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/contractions/operands.hpp"
#include "tests/contractions/reference.hpp"
#include "tests/contractions/typed.hpp"

namespace ricci::contractions {
namespace {

/// Up to so many products all elements are compared one by one.
constexpr std::int64_t most_products = 30'000'000;
/// Beyond them so many elements are, or as many as have this many products (at least one), and the
/// signed sum of all.
constexpr std::int64_t sampled_elements = 4096;
constexpr std::int64_t sampled_products = 100'000'000;

struct all_cases {
  std::vector<contraction_case const*> cases;
  std::string drawn_by;
};
all_cases& registered() {
  static all_cases all;
  return all;
}

/// What a program prints at its end.
struct totals {
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  std::int64_t skipped = 0;
  std::int64_t compared = 0;
  std::int64_t elements = 0;
  std::int64_t sampled_runs = 0;
  double closest_sum = 0;  // the largest difference of a signed sum, as a share of what is allowed
  std::map<std::string, std::int64_t> by_mode;
  double fill_seconds = 0;
  double compute_seconds = 0;
  double check_seconds = 0;
};

class stopwatch {
 public:
  explicit stopwatch(double& seconds) : seconds_(seconds) {}
  ~stopwatch() {
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string describe(contraction_case const& c, typed_contraction const& t) {
  return std::string(c.number) + "; " + c.equation + "; " + c.extents + "; " +
         std::string(name_of(t.type)) + ", " + t.mode + " extents";
}

/// The elements of an operand, up to the next line of the cache.
std::int64_t whole_lines(std::int64_t elements) { return (elements + 63) / 64 * 64; }

graph::handle operand(typed_contraction const& t, equation const& e, tensor_id which,
                      random_numbers const& numbers, std::int64_t first) {
  std::vector<std::int64_t> extents = e.extents[which];
  extents.push_back(0);
  std::int64_t const size = size_of(t.type);
  char* const data = static_cast<char*>(numbers.data()) + first * size;
  return graph::make_leaf(t.type, t.operands[which], extents.data(),
                          storage_handle::borrow(data, e.elements(which) * size, nullptr), 0);
}

/// What is wrong with a result, as text; empty where nothing is.
std::string faults(typed_contraction const& t, equation const& e, graph::handle const& a,
                   graph::handle const& b, graph::handle const& r, totals& sum) {
  char text[400];
  if (graph::dtype_of(r) != t.type) return "the result has another dtype";
  for (std::size_t i = 0; i < e.extents[in_result].size(); ++i)
    if (graph::extents(r)[i] != e.extents[in_result][i]) return "the result has other extents";

  operands_and_result const x{t.type, {graph::data(a), graph::data(b), graph::data(r)}};
  std::int64_t const elements = e.elements(in_result);
  bool const is_full = e.products() <= most_products;
  std::int64_t most = elements;
  if (!is_full)
    most =
        std::clamp<std::int64_t>(sampled_products / e.products_an_element(), 1, sampled_elements);
  element_findings const found = check_elements(e, x, most);
  sum.elements += elements;
  sum.compared += found.compared;
  if (found.wrong > 0) {
    std::snprintf(
        text, sizeof text,
        "%lld of %lld elements compared are wrong, the first at %lld (%s): %.17g instead of "
        "%.17g +- %.3g",
        static_cast<long long>(found.wrong), static_cast<long long>(found.compared),
        static_cast<long long>(found.first_wrong), e.place(found.first_wrong).c_str(), found.found,
        found.expected, found.allowed);
    return text;
  }
  if (found.compared == elements) return "";
  ++sum.sampled_runs;
  sum_findings const signs = check_signed_sum(e, x);
  sum.closest_sum =
      std::max(sum.closest_sum, std::abs(signs.found - signs.expected) / signs.allowed);
  if (signs.agrees) return "";
  std::snprintf(text, sizeof text,
                "the signed sum of all %lld elements is %.17g instead of %.17g +- %.3g",
                static_cast<long long>(elements), signs.found, signs.expected, signs.allowed);
  return text;
}

/// Three quarters of the machine's memory.
double usable_bytes() {
  static double const bytes = 0.75 * static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                              static_cast<double>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Where in the random numbers the operands of a case begin: elsewhere for each.
constexpr std::int64_t most_begin = 1 << 16;
std::int64_t begin_of(contraction_case const& c) {
  return std::atoll(c.number) * 7 * 64 % most_begin;
}

/// How many random numbers a case needs.
std::int64_t numbers_for(equation const& e) {
  return most_begin + whole_lines(e.elements(in_a)) + whole_lines(e.elements(in_b));
}

/// A case and its equation.
struct work {
  contraction_case const* c;
  equation e;

  /// Bytes of the result and of so many numbers.
  double bytes(std::int64_t numbers, dtype type) const {
    return static_cast<double>(numbers + e.elements(in_result)) *
           static_cast<double>(size_of(type));
  }
};

std::string run(work const& w, typed_contraction const& t, random_numbers const& numbers,
                bool prints_times, totals& sum) {
  double compute_seconds = 0;
  double check_seconds = 0;
  std::string wrong;
  try {
    std::int64_t const begin = begin_of(*w.c);
    graph::handle const a = operand(t, w.e, in_a, numbers, begin);
    graph::handle const b = operand(t, w.e, in_b, numbers, begin + whole_lines(w.e.elements(in_a)));
    graph::handle r;
    {
      stopwatch const watch(compute_seconds);
      r = t.compute(a, b);
    }
    stopwatch const watch(check_seconds);
    wrong = faults(t, w.e, a, b, r, sum);
  } catch (std::exception const& error) {
    wrong = std::string("threw: ") + error.what();
  }
  sum.compute_seconds += compute_seconds;
  sum.check_seconds += check_seconds;
  if (prints_times)
    std::printf("%8.3f s to compute, %8.3f s to check: %s\n", compute_seconds, check_seconds,
                describe(*w.c, t).c_str());
  return wrong;
}

/// All cases in the dtype that stands at `place`.
void run_dtype(std::vector<work> const& cases, int place, bool prints_times, totals& sum) {
  if (cases.empty()) return;
  dtype const type = cases[0].c->in[place].type;
  std::int64_t count = 0;
  for (work const& w : cases)
    if (std::int64_t const own = numbers_for(w.e); w.bytes(own, type) <= usable_bytes())
      count = std::max(count, own);
  std::optional<random_numbers> numbers;
  {
    stopwatch const watch(sum.fill_seconds);
    numbers.emplace(type, count);
  }
  for (work const& w : cases) {
    typed_contraction const& t = w.c->in[place];
    if (numbers_for(w.e) > count || w.bytes(count, type) > usable_bytes()) {
      ++sum.skipped;
      std::printf("SKIP %s: this machine has too little memory\n", describe(*w.c, t).c_str());
      continue;
    }
    std::string const wrong = run(w, t, *numbers, prints_times, sum);
    ++sum.by_mode[t.mode];
    ++(wrong.empty() ? sum.passed : sum.failed);
    if (!wrong.empty()) std::printf("FAILED %s: %s\n", describe(*w.c, t).c_str(), wrong.c_str());
    std::fflush(stdout);
  }
}

struct options {
  std::int64_t largest = INT64_MAX;
  bool prints_times = false;
  std::vector<std::string> numbers;
};
options read_options(int count, char** arguments) {
  options o;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "--largest") == 0 && i + 1 < count)
      o.largest = std::atoll(arguments[++i]);
    else if (std::strcmp(arguments[i], "--times") == 0)
      o.prints_times = true;
    else
      o.numbers.emplace_back(arguments[i]);
  }
  return o;
}

void print(totals const& sum, std::size_t cases, std::string const& drawn_by) {
  std::printf("%zu contractions, each in f64, f32 and bf16; extents drawn by %s:", cases,
              drawn_by.c_str());
  for (auto const& [mode, runs] : sum.by_mode)
    std::printf(" %lld %s", static_cast<long long>(runs), mode.c_str());
  std::printf("\n%lld of %lld elements compared one by one", static_cast<long long>(sum.compared),
              static_cast<long long>(sum.elements));
  if (sum.sampled_runs > 0)
    std::printf("; of %lld runs a part, and their signed sums, within %.2g of what is allowed",
                static_cast<long long>(sum.sampled_runs), sum.closest_sum);
  std::printf("\n%.1f s to fill, %.1f s to compute, %.1f s to check\n", sum.fill_seconds,
              sum.compute_seconds, sum.check_seconds);
  std::printf("%lld passed, %lld failed, %lld skipped\n", static_cast<long long>(sum.passed),
              static_cast<long long>(sum.failed), static_cast<long long>(sum.skipped));
}

int run_all(int count, char** arguments) {
  options const o = read_options(count, arguments);
  totals sum;
  std::vector<work> cases;
  std::int64_t larger = 0;
  for (contraction_case const* c : registered().cases) {
    if (!o.numbers.empty() && std::ranges::find(o.numbers, c->number) == o.numbers.end()) continue;
    work w{c, read_equation(c->equation, c->extents)};
    std::int64_t const elements = w.e.elements(in_a) + w.e.elements(in_b) + w.e.elements(in_result);
    if (std::max(w.e.products(), elements) <= o.largest)
      cases.push_back(std::move(w));
    else
      ++larger;
  }
  if (larger > 0)
    std::printf("SKIP %lld contractions of more than %lld products or elements\n",
                static_cast<long long>(larger), static_cast<long long>(o.largest));
  sum.skipped += 3 * larger;
  for (int place = 0; place < 3; ++place) run_dtype(cases, place, o.prints_times, sum);
  print(sum, cases.size(), registered().drawn_by);
  return sum.failed > 0 || sum.passed + sum.skipped == 0;
}

}  // namespace

registered_cases::registered_cases(std::span<contraction_case const> cases, char const* drawn_by) {
  for (contraction_case const& c : cases) registered().cases.push_back(&c);
  registered().drawn_by = drawn_by;
}

}  // namespace ricci::contractions

int main(int count, char** arguments) { return ricci::contractions::run_all(count, arguments); }
