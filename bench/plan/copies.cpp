// The transposing copies that the lowerings of a file's contractions make, each beside memcpy of
// the same bytes on the same threads, by turns. One JSON line a copy.
// usage: copies CASES [--dtype f32|f64|bf16] [--threads N] [--budget SECONDS] [--least BYTES]

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <ricci/exec/threads.hpp>
#include <ricci/tensor/storage.hpp>

#include "bench/plan/cases.hpp"
#include "kernels/copy/copy.hpp"
#include "kernels/parallel/parallel.hpp"

namespace {

using namespace ricci;
using extents_by_letter = std::map<char, std::int64_t>;

using bench::case_options;

bool has(std::string const& group, char letter) { return group.find(letter) != std::string::npos; }

// The axes of `order` that are in `group`.
std::string in_order(std::string const& order, std::string const& group) {
  std::string kept;
  for (char const letter : order)
    if (has(group, letter)) kept += letter;
  return kept;
}

void measure(std::string const& name, std::string const& from, std::string const& to,
             extents_by_letter const& extent, case_options const& o) {
  std::int64_t const size = size_of(o.type);
  std::vector<std::int64_t> extents, to_strides(to.size()), from_strides(to.size());
  std::int64_t count = 1;
  for (std::size_t i = to.size(); i-- > 0; count *= extent.at(to[i])) to_strides[i] = count;
  std::int64_t stride = 1;
  for (std::size_t i = from.size(); i-- > 0; stride *= extent.at(from[i]))
    from_strides[to.find(from[i])] = stride;
  for (char const letter : to) extents.push_back(extent.at(letter));
  std::int64_t const bytes = count * size;
  if (static_cast<double>(bytes) < o.least) return;
  storage_handle const source = allocate(bytes, role::data);
  storage_handle const target = allocate(bytes, role::data);
  auto* const s = static_cast<unsigned char*>(source.data());
  auto* const t = static_cast<unsigned char*>(target.data());
  for (std::int64_t i = 0; i < bytes; ++i) s[i] = static_cast<unsigned char>(i * 2654435761u >> 9);
  auto const permuted = [&] {
    kernels::copy(size, static_cast<int>(to.size()), extents.data(), t, to_strides.data(), s,
                  from_strides.data());
  };
  auto const straight = [&] {
    std::int64_t const part = bytes < (256 << 10) ? bytes : (bytes - 1) / threads() + 1;
    kernels::parallel_chunks(bytes, part, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(t + begin, s + begin, static_cast<std::size_t>(end - begin));
    });
    asm volatile("" : : "r"(t) : "memory");
  };
  permuted();
  for (std::int64_t i = 0; i < count; i += std::max<std::int64_t>(1, count / 4099)) {
    std::int64_t rest = i, at = 0;
    for (std::size_t axis = to.size(); axis-- > 0; rest /= extents[axis])
      at += rest % extents[axis] * from_strides[axis];
    if (std::memcmp(t + i * size, s + at * size, static_cast<std::size_t>(size)) != 0)
      throw std::runtime_error("the copy " + from + " -> " + to + " is wrong");
  }
  std::vector<double> times[2];
  double total = 0;
  while (times[0].size() < 5 || (total < o.budget && times[0].size() < 2000)) {
    for (int which = 0; which < 2; ++which) {
      which == 0 ? permuted() : straight();  // what the other left in the caches is not its merit
      auto const begin = std::chrono::steady_clock::now();
      which == 0 ? permuted() : straight();
      double const seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      times[which].push_back(seconds);
      total += seconds;
    }
  }
  double medians[2];
  for (int which = 0; which < 2; ++which) {
    auto const middle = times[which].begin() + static_cast<std::ptrdiff_t>(times[which].size() / 2);
    std::nth_element(times[which].begin(), middle, times[which].end());
    medians[which] = *middle;
  }
  nlohmann::ordered_json line{{"case", name},
                              {"from", from},
                              {"to", to},
                              {"dtype", name_of(o.type)},
                              {"bytes", bytes},
                              {"us", medians[0] * 1e6},
                              {"memcpy_us", medians[1] * 1e6},
                              {"gbs", 2e-9 * static_cast<double>(bytes) / medians[0]},
                              {"share", medians[1] / medians[0]}};
  std::cout << line.dump() << std::endl;
}

// An operand is copied so that batch, m or n, and k follow each other; a result from the order of
// the product.
void copies_of(bench::contraction_case const& c, case_options const& o,
               std::set<std::string>& done) {
  std::string const &a = c.groups[0], &b = c.groups[1], &result = c.groups[2];
  extents_by_letter const& extent = c.extents;
  for (std::string const& group : {a, b})
    if (std::set(group.begin(), group.end()).size() != group.size()) {
      std::cerr << "SKIP " << c.equation << ": an index stands twice in one operand\n";
      return;
    }
  std::string batch, m, n, k;
  for (char const letter : result) (has(a, letter) ? has(b, letter) ? batch : m : n) += letter;
  for (char const letter : a)
    if (!has(result, letter)) k += letter;
  auto const add = [&](std::string const& from, std::string const& to) {
    std::string key = from + " " + to;
    for (char const letter : to) key += " " + std::to_string(extent.at(letter));
    bool const is_permutation = in_order(from, to) == from && in_order(to, from) == to;
    if (from != to && is_permutation && done.insert(key).second)
      measure(c.equation, from, to, extent, o);
  };
  add(a, batch + m + in_order(k, b));
  add(a, batch + in_order(k, b) + m);
  add(b, batch + in_order(k, b) + n);
  add(b, batch + n + in_order(k, b));
  add(batch + m + n, result);
  add(batch + n + m, result);
}

}  // namespace

int main(int count, char** arguments) {
  auto const all = [&] {
    case_options o;
    o.least = 64 << 10;  // below, a copy costs what its call does
    o.read(count, arguments, [](auto const&...) { return false; });
    set_threads(o.threads);
    std::set<std::string> done;
    for (bench::contraction_case const& c : bench::read_cases(o.cases)) copies_of(c, o, done);
  };
  return bench::run_main(
      "copies CASES [--dtype f32|f64|bf16] [--threads N] [--budget SECONDS] [--least BYTES]", count,
      arguments, all);
}
