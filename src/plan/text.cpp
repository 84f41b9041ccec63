#include <algorithm>
#include <cstdio>
#include <cstring>

#include "src/plan/explained.hpp"

namespace ricci::detail {
namespace {

std::string padded(std::string const& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 0, ' ');
}
std::string right(std::string const& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

std::string counted(int count, char const* one, char const* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string per_byte(std::int64_t operations, std::int64_t bytes) {
  if (bytes == 0) return "";
  char text[32];
  double const ratio = static_cast<double>(operations) / static_cast<double>(bytes);
  std::snprintf(text, sizeof text, ratio < 9.95 ? "%.1f" : "%.0f", ratio);
  return text;
}

// `chosen among gemm 1, loops 1.8`: predicted times, in that of the best.
std::string candidates_text(contraction_request const& request, lowering_code chosen) {
  candidate_list const list = candidates_of(request);
  if (list.count < 2) return {};
  std::vector<contraction_candidate> all(list.at, list.at + list.count);
  std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.code < b.code;
  });
  // The best and the chosen one tell the most.
  constexpr std::size_t most = 4;
  std::string text = request.forced == lowering_code::automatic ? "chosen among" : "forced among";
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool const is_chosen = all[i].code == chosen;
    if (i >= most && !is_chosen) {
      ++left_out;
      continue;
    }
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, " %.3g", all[i].seconds / all[0].seconds);
    text += (i == 0 ? " " : ", ") + std::string(name_of(all[i].code)) + ratio;
    if (is_chosen) text += "*";
  }
  if (left_out > 0) text += ", " + std::to_string(left_out) + " more";
  return text + " (predicted time)";
}

// What a line has no room for goes below, from the last comma on.
constexpr std::size_t widest = 72;
std::string cut_off(std::string& text) {
  if (text.size() <= widest) return {};
  std::size_t at = widest;
  while (at > 0 && !(text[at] == ' ' && std::strchr(",;:", text[at - 1]) != nullptr)) --at;
  if (at == 0) return {};
  std::string rest = text.substr(at + 1);
  text.resize(at);
  return rest;
}

struct line {
  std::string number, kind, what, backend, operations, read, written, intensity;
  std::vector<std::string> below;
};

}  // namespace

std::string explained_text(explained const& e) {
  int const root = e.s().root();
  std::string text =
      "statement  " + shape_text(e, root) + " " + std::string(name_of(e.value(root).type)) + "\n";
  std::vector<line> lines;
  for (std::size_t i = 0; i < e.steps.size(); ++i) {
    plan_step const& step = e.steps[i];
    line l;
    l.number = std::to_string(i + 1);
    l.kind = kind_text(e, step);
    l.what = step_text(e, step);
    for (std::string rest = cut_off(l.what); !rest.empty();) {
      std::string const more = cut_off(rest);
      l.below.push_back(rest);
      rest = more;
    }
    l.backend = backend_text(e, step);
    bool const is_product = step.kind == step_kind::gemm || step.kind == step_kind::loops;
    if (is_product) {
      std::string of;
      for (int k = 0; k < 2 && k < step.operands; ++k)
        of += (k > 0 ? " and " : "of ") + value_text(e, e.reads(step)[k]);
      if (step.nodes > 0)
        of += (step.is_apart ? "; then in a pass of its own " : "; then ") + fused_text(e, step);
      l.below.push_back(of);
      contraction_request const& request = e.requests[i];
      if (e.plans[i].kind != contraction_kind::invalid)
        if (std::string among = candidates_text(request, step.lowering); !among.empty())
          l.below.push_back(among);
    }
    if (step.kind != step_kind::view) {
      l.operations = short_number(step.operations) + "op";
      l.read = short_number(step.bytes_read) + "B";
      l.written = short_number(step.bytes_written) + "B";
      l.intensity = per_byte(step.operations, step.bytes());
    }
    if (step.kind == step_kind::permute && step.nodes > 0)
      l.below.push_back("then " + fused_text(e, step));
    if (step.temporary_bytes > 0)
      l.below.push_back("takes " + short_number(step.temporary_bytes) + "B beside");
    lines.push_back(l);
  }
  std::size_t number = 0, kind = 0, what = 0, backend = 0, ops = 10, read = 8, written = 8;
  for (line const& l : lines) {
    number = std::max(number, l.number.size());
    kind = std::max(kind, l.kind.size());
    what = std::max(what, l.what.size());
    backend = std::max(backend, l.backend.size());
    ops = std::max(ops, l.operations.size());
    read = std::max(read, l.read.size());
    written = std::max(written, l.written.size());
  }
  std::string const indent(number + kind + 6, ' ');
  bool has_figures = false;
  for (line const& l : lines) has_figures = has_figures || !l.operations.empty();
  if (has_figures)
    text += indent + padded("", what) + "  " + padded("", backend) + right("operations", ops + 2) +
            right("reads", read + 2) + right("writes", written + 2) + "  op/B\n";
  for (line const& l : lines) {
    std::string row = "  " + right(l.number, number) + "  " + padded(l.kind, kind) + "  ";
    row += padded(l.what, what);
    if (!l.operations.empty())
      row += "  " + padded(l.backend, backend) + right(l.operations, ops + 2) +
             right(l.read, read + 2) + right(l.written, written + 2) + right(l.intensity, 6);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
    for (std::string const& below : l.below) text += indent + below + "\n";
  }
  plan_totals const& t = e.totals;
  if (lines.empty()) text += "  nothing to compute: the value is there\n";
  text += "total  " + counted(t.launches, "launch", "launches") + ", " +
          counted(t.gemms, "gemm", "gemms") + ", " + counted(t.copies, "copy", "copies") + "; " +
          short_number(t.operations) + "op, " + short_number(t.bytes) + "B";
  if (t.bytes > 0) text += " (" + per_byte(t.operations, t.bytes) + " operations a byte)";
  text += "; result " + short_number(t.result_bytes) + "B, temporary " +
          short_number(t.temporary_bytes) + "B\n";
  if (t.result_is_view) text += "the result is a view: `tensor h = e` copies it once more\n";
  return text;
}

}  // namespace ricci::detail
