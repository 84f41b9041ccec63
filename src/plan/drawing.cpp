#include <cstring>
#include <set>

#include "src/plan/explained.hpp"

namespace ricci::detail {
namespace {

// Colours that keep black text readable and differ in grey too (after ColorBrewer's Set3).
char const* colour_of(step_kind kind) {
  switch (kind) {
    case step_kind::view:
      return "#f2f2f2";
    case step_kind::gemm:
      return "#8dd3c7";
    case step_kind::loops:
      return "#bfe5a0";
    case step_kind::loop:
      return "#ffffb3";
    case step_kind::reduction:
      return "#bebada";
    case step_kind::kernel:
      return "#80b1d3";
    default:
      return "#fb8072";  // whatever copies
  }
}

std::string quoted(std::string const& text) {
  std::string result = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

// Sentences in lines of some 40 characters, broken behind commas and such; \\n is Graphviz's own
// line break.
std::string label_of(std::vector<std::string> const& lines) {
  std::string label;
  for (std::string const& line : lines) {
    if (line.empty()) continue;
    std::string const text = quoted(line);
    std::size_t column = 0;
    for (std::size_t i = 1; i + 1 < text.size(); ++i, ++column) {
      bool const may_break = text[i] == ' ' && std::strchr(",;:", text[i - 1]) != nullptr;
      if (may_break && column > 32) {
        label += "\\n";
        column = 0;
        continue;
      }
      label += text[i];
    }
    label += "\\n";
  }
  return label;
}

// What a step does, without what it reads.
std::string without_reads(std::string const& text) { return text.substr(0, text.find(": ")); }

std::string edge_label(explained const& e, int value) {
  std::string extents;
  for (int i = 0; i < e.value(value).rank; ++i)
    extents += (i > 0 ? " x " : "") + std::to_string(e.s().extent(value, i));
  std::string const axes = axes_text(e, value);
  return axes.empty() ? "scalar" : axes + "\\n" + extents;
}

}  // namespace

std::string explained_drawing(explained const& e) {
  std::string text =
      "digraph statement {\n"
      "  rankdir=TB;\n"
      "  node [fontname=\"Helvetica\", fontsize=11];\n"
      "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#606060\"];\n";
  std::set<int> leaves;
  std::string edges;
  auto const node_of = [&](int value, std::size_t before) {
    int step = 0;
    for (std::size_t i = 0; i < before; ++i)
      if (e.steps[i].value == value) step = static_cast<int>(i) + 1;
    if (step > 0) return "step" + std::to_string(step);
    leaves.insert(value);
    return "value" + std::to_string(value);
  };
  for (std::size_t i = 0; i < e.steps.size(); ++i) {
    plan_step const& step = e.steps[i];
    bool const is_product = step.kind == step_kind::gemm || step.kind == step_kind::loops;
    std::vector<std::string> lines{std::to_string(i + 1) + "  " + kind_text(e, step)};
    // What is read stands on the edges.
    if (is_product || step.kind == step_kind::pack) lines.push_back(step_text(e, step));
    if (step.nodes > 0)
      lines.push_back(
          (step.kind == step_kind::loop || step.kind == step_kind::reduction ? "" : "then ") +
          fused_text(e, step));
    if (step.kind == step_kind::permute || step.kind == step_kind::view)
      lines.push_back(step_text(e, step));
    std::string const about = step_text(e, step);
    bool const has_axes = step.kind == step_kind::kernel && about.starts_with("along ");
    if (step.kind == step_kind::reduction || has_axes) lines.push_back(without_reads(about));
    if (step.kind != step_kind::view)
      lines.push_back(short_number(step.operations) + "op, " + short_number(step.bytes()) + "B");
    std::string const name = "step" + std::to_string(i + 1);
    text += "  " + name + " [shape=box, style=\"filled,rounded\", fillcolor=\"" +
            colour_of(step.kind) + "\", label=\"" + label_of(lines) + "\"];\n";
    for (int k = 0; k < step.operands; ++k) {
      int const from = e.reads(step)[k];
      edges +=
          "  " + node_of(from, i) + " -> " + name + " [label=\"" + edge_label(e, from) + "\"];\n";
    }
    // A product reads what was packed for it, the permutation what the product wrote.
    for (std::size_t p = i; p-- > 0;) {
      if (e.steps[p].origin != step.origin || step.origin < 0) break;
      bool const packs = e.steps[p].kind == step_kind::pack && is_product;
      bool const permutes =
          !is_product && step.kind == step_kind::permute && e.steps[p].kind == step_kind::gemm;
      if (packs || permutes)
        edges += "  step" + std::to_string(p + 1) + " -> " + name + " [style=bold];\n";
    }
  }
  for (int const leaf : leaves)
    text += "  value" + std::to_string(leaf) + " [shape=ellipse, label=\"" +
            std::string(name_of(e.value(leaf).type)) + "\"];\n";
  int const root = e.s().root();
  text += "  result [shape=ellipse, label=\"result\"];\n" + edges;
  text += "  " + node_of(root, e.steps.size()) + " -> result [label=\"" + edge_label(e, root) +
          "\"];\n";
  if (e.steps.empty())
    text += "  value" + std::to_string(root) + " [shape=ellipse, label=\"" +
            std::string(name_of(e.value(root).type)) + "\"];\n";
  return text + "}\n";
}

}  // namespace ricci::detail
