#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <ricci/exec/contract.hpp>
#include <ricci/exec/threads.hpp>
#include <ricci/plan/candidates.hpp>
#include <ricci/tensor/storage.hpp>

#include "bench/plan/cases.hpp"

// Times every lowering of every contraction of a file, the candidates of a case one after another
// in rounds, so that the noise of the machine meets all of them alike. One JSON line a case and
// candidate. The file has lines `name; ab,bc->ac; a=2 b=3 c=4`, or without a name.
namespace {

using namespace ricci;
using clock_type = std::chrono::steady_clock;

using bench::contraction_case;

struct options : bench::case_options {
  std::string filter;
  bool chosen_only = false;
  bool shows_work = false;
};

// A packed array of the indices of a group.
struct array {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
  std::vector<std::uint8_t> ids;
  layout known;
  std::int64_t count = 1;
  storage_handle memory;

  array(contraction_case const& c, std::string const& group, dtype type) {
    for (char letter : group) {
      extents.push_back(c.extents.at(letter));
      ids.push_back(
          static_cast<std::uint8_t>(std::distance(c.extents.begin(), c.extents.find(letter))));
    }
    strides.resize(group.size());
    for (std::size_t i = group.size(); i-- > 0; count *= extents[i]) strides[i] = count;
    known = layout::packed(static_cast<int>(group.size()));
    memory = allocate(checked_bytes(std::max<std::int64_t>(count, 1), type), role::data);
    for (std::int64_t i = 0; i < count; ++i) {
      float const x = static_cast<float>(i * 37 % 101) / 101 - 0.5f;
      if (type == dtype::bf16)
        static_cast<bf16*>(memory.data())[i] = bf16(x);
      else if (type == dtype::f64)
        static_cast<double*>(memory.data())[i] = x;
      else
        static_cast<float*>(memory.data())[i] = x;
    }
  }
  exec::contraction_operand operand(dtype type) const {
    return {memory.data(), type, known.rank, extents.data(), strides.data(), ids.data(), &known};
  }
  // Without axes of extent 1, as contract() plans.
  contraction_tensor tensor() const {
    contraction_tensor t{known};
    for (int i = known.rank - 1; i >= 0; --i)
      if (extents[static_cast<std::size_t>(i)] == 1) t.known = without_unit_axis(t.known, i);
    int rank = 0;
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (extents[i] != 1) t.index[rank++] = ids[i];
    return t;
  }
};

struct contestant {
  lowering_code code;
  bool is_chosen = false;
  double predicted = 0;
  std::vector<double> work;  // what the cost model counts, in its order
  exec::contraction_report report;
  std::vector<double> seconds;

  double median() {
    std::size_t const middle = seconds.size() / 2;
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(middle),
                     seconds.end());
    return seconds[middle];
  }
};

void run(contraction_case const& c, options const& o) {
  array const a(c, c.groups[0], o.type);
  array const b(c, c.groups[1], o.type);
  array const result(c, c.groups[2], o.type);
  array const expected(c, c.groups[2], o.type);
  contraction_request request;
  request.a = a.tensor();
  request.b = b.tensor();
  for (std::size_t i = 0; i < result.ids.size(); ++i)
    if (result.extents[i] != 1) request.result[request.result_rank++] = result.ids[i];
  int id = 0;
  for (auto const& [letter, extent] : c.extents) request.extent[id++] = extent;
  request.type = request.result_type = o.type;
  candidate_list const list = candidates_of(request);
  std::vector<contestant> all;
  for (int i = 0; i < list.count; ++i) {
    if (i != list.chosen && o.chosen_only) continue;
    contraction_candidate const& candidate = list.at[i];
    detail::work_done const done = detail::count_work(candidate.plan, request);
    all.push_back({candidate.code,
                   i == list.chosen,
                   candidate.seconds,
                   {std::begin(done.of), std::end(done.of)},
                   {},
                   {}});
  }

  auto const once = [&](array const& to, lowering_code forced) {
    return exec::contract(
        a.operand(o.type), b.operand(o.type),
        {to.memory.data(), o.type, to.known.rank, to.extents.data(), to.ids.data()}, {}, forced);
  };
  once(expected, lowering_code::loops);
  double limit = o.type == dtype::bf16 ? 0.02 : 1e-4;
  for (contestant& x : all) {
    x.report = once(result, x.code);
    double worst = 0;
    double largest = 0;
    for (std::int64_t i = 0; i < result.count; ++i) {
      auto const value = [&](array const& from) -> double {
        if (o.type == dtype::bf16) return float(static_cast<bf16 const*>(from.memory.data())[i]);
        if (o.type == dtype::f64) return static_cast<double const*>(from.memory.data())[i];
        return static_cast<float const*>(from.memory.data())[i];
      };
      worst = std::max(worst, std::abs(value(result) - value(expected)));
      largest = std::max(largest, std::abs(value(expected)));
    }
    if (!(worst <= limit * (largest + 1)))
      throw std::runtime_error(c.equation + ": " + std::string(name_of(x.code)) + " differs by " +
                               std::to_string(worst));
  }
  auto const start = clock_type::now();
  auto const since = [&](clock_type::time_point t) {
    return std::chrono::duration<double>(clock_type::now() - t).count();
  };
  for (int round = 0; round < 3 || (since(start) < o.budget && round < 1000); ++round) {
    for (contestant& x : all) {
      once(result, x.code);  // what the one before left in the caches is not its merit
      auto const t = clock_type::now();
      once(result, x.code);
      x.seconds.push_back(since(t));
    }
  }
  double const bytes = static_cast<double>((a.count + b.count + result.count) * size_of(o.type));
  for (contestant& x : all) {
    double const seconds = x.median();
    nlohmann::ordered_json line{
        {"case", c.name},
        {"equation", c.equation},
        {"dtype", name_of(o.type)},
        {"candidate", name_of(x.code)},
        {"chosen", x.is_chosen},
        {"us", seconds * 1e6},
        {"best_us", *std::min_element(x.seconds.begin(), x.seconds.end()) * 1e6},
        {"predicted_us", x.predicted * 1e6},
        {"gflops", c.operations / seconds * 1e-9},
        {"operations", c.operations},
        {"bytes", bytes},
        {"gemms", x.report.gemms},
        {"batch", x.report.batch},
        {"m", x.report.m},
        {"n", x.report.n},
        {"k", x.report.k},
        {"copies", x.report.packs},
        {"ran", name_of(x.report.lowering)},
        {"threads", o.threads}};
    if (o.shows_work) line["work"] = x.work;
    std::cout << line.dump() << std::endl;
  }
}

}  // namespace

int main(int count, char** arguments) {
  auto const all = [&] {
    options o;
    o.budget = 0.3;
    o.read(count, arguments, [&](std::string const& word, auto const& value) {
      if (word == "--filter")
        o.filter = value();
      else if (word == "--chosen")
        o.chosen_only = true;
      else if (word == "--work")
        o.shows_work = true;
      else
        return false;
      return true;
    });
    set_threads(o.threads);
    for (contraction_case const& c : bench::read_cases(o.cases))
      if (c.operations >= o.least &&
          (c.name + ";" + c.equation).find(o.filter) != std::string::npos)
        run(c, o);
  };
  return bench::run_main(
      "lowerings CASES [--dtype f32|f64|bf16] [--threads N] [--budget SECONDS] [--least "
      "OPERATIONS] "
      "[--filter TEXT] [--chosen] [--work]",
      count, arguments, all);
}
