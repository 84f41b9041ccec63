#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include <ricci/tensor/graph.hpp>
#include <ricci/tensor/random.hpp>

#include "tests/unit/graph/spec.hpp"

/// Random statements of the graph, for tests that compare a plan with what runs.
namespace plan_test {

using namespace ricci;
namespace g = ricci::graph;

struct A : axis<"a"> {};
struct B : axis<"b"> {};
struct C : axis<"c"> {};
struct D : axis<"d"> {};
struct E : axis<"e"> {};
struct F : axis<"f"> {};
struct G : axis<"g"> {};
struct H : axis<"h"> {};
struct I : axis<"i"> {};
struct J : axis<"j"> {};
struct K : axis<"k"> {};
struct L : axis<"l"> {};

inline axis_info const* info(char letter) {
  return detail::axis_list<A, B, C, D, E, F, G, H, I, J, K, L>[letter - 'a'];
}

/// Axes that live as long as the program.
inline g::axes_view axes_of_letters(std::string const& letters) {
  static std::deque<std::vector<axis_info const*>> lists;
  std::vector<axis_info const*>& list = lists.emplace_back();
  for (char const c : letters) list.push_back(info(c));
  list.push_back(nullptr);
  return {list.data(), static_cast<int>(letters.size())};
}

/// A value and the letters of its axes.
struct lettered {
  g::handle value;
  std::string axes;
};

/// Builds one statement; `root` is its end, `kept` are values inside of it that others hold.
class random_statement {
 public:
  lettered root;
  std::vector<g::handle> kept;
  std::string text;

  /// level  where given, some of the leaves are differentiated
  explicit random_statement(unsigned seed, g::level const* level = nullptr)
      : random_(seed), level_(level) {
    static std::int64_t const sizes[] = {1, 2, 3, 5, 8, 17, 33, 48};
    static std::int64_t const large[] = {16, 33, 48, 64, 80, 96};
    is_large_ = pick(3) == 0;
    for (char c = 'a'; c <= 'l'; ++c) extent(c) = is_large_ ? large[pick(6)] : sizes[pick(8)];
    static dtype const types[] = {dtype::f32,  dtype::f32, dtype::f32,
                                  dtype::bf16, dtype::f64, dtype::f16};
    type_ = types[pick(6)];
    root = leaf(random_axes("abcdef", 2 + pick(2)));
    int const steps = 1 + pick(7);
    for (int i = 0; i < steps; ++i) {
      step();
      if (pick(8) == 0) kept.push_back(root.value);
    }
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  std::int64_t& extent(char c) { return extent_[c - 'a']; }
  std::int64_t count_of(std::string const& axes) {
    std::int64_t count = 1;
    for (char const c : axes) count *= extent(c);
    return count;
  }
  std::string random_axes(std::string from, int most) {
    std::shuffle(from.begin(), from.end(), random_);
    std::string axes;
    for (char const c : from)
      if (static_cast<int>(axes.size()) < most && count_of(axes + c) <= 300000) axes += c;
    return axes;
  }
  std::string subset(std::string from) {
    std::string axes;
    for (char const c : from)
      if (pick(2) == 0) axes += c;
    return axes;
  }
  lettered leaf(std::string const& axes, dtype type) {
    std::vector<std::int64_t> extents;
    for (char const c : axes) extents.push_back(extent(c));
    g::handle x =
        g::random_uniform(type, axes_of_letters(axes), extents.data(), random::key(7), 0.5, 1.5);
    return {std::move(x), axes};
  }
  lettered leaf(std::string const& axes) {
    text += " leaf[" + axes + "]";
    lettered x = leaf(axes, type_);
    if (level_ != nullptr && pick(3) == 0) {
      text += "'";
      x.value = g::track(x.value, *level_);
    }
    switch (pick(6)) {  // some are views
      case 0:
        if (!axes.empty()) x.value = g::reverse(x.value, pick(static_cast<int>(axes.size())));
        break;
      case 1:
        x = permuted(x);
        break;
      case 2:
        kept.push_back(x.value);
        break;
      default:
        break;
    }
    return x;
  }
  lettered permuted(lettered x) {
    std::string to = x.axes;
    std::shuffle(to.begin(), to.end(), random_);
    std::vector<std::int8_t> order;
    for (char const c : to) order.push_back(static_cast<std::int8_t>(x.axes.find(c)));
    return {g::permute(x.value, axes_of_letters(to), order.data()), to};
  }
  std::string in(std::string const& axes) { return "[" + axes + "]"; }

  g::handle other_for(std::string const& axes) {
    if (pick(3) == 0) {
      dtype const wide = is_floating(type_) ? type_ : dtype::f32;
      return g::constant(wide, 0.5, 1);
    }
    std::string of = subset(axes);
    std::shuffle(of.begin(), of.end(), random_);
    return leaf(of).value;
  }

  void unary() {
    static opcode const ops[] = {opcode::exp,  opcode::square, opcode::negate, opcode::gelu_erf,
                                 opcode::relu, opcode::sqrt,   opcode::tanh,   opcode::silu};
    opcode const op = ops[pick(8)];
    text += " " + std::string(name_of(op));
    g::handle const operands[] = {std::move(root.value)};
    root.value = g::pointwise("test", op, operands, 1);
  }
  void binary() {
    static opcode const ops[] = {opcode::add, opcode::multiply, opcode::subtract, opcode::divide,
                                 opcode::add};
    opcode const op = ops[pick(5)];
    text += " " + std::string(name_of(op));
    g::handle operands[] = {std::move(root.value), other_for(root.axes)};
    if (op != opcode::divide && pick(3) == 0 && g::axes_of(operands[1]).rank > 0)
      std::swap(operands[0], operands[1]);
    root.value = g::pointwise("test", op, operands, 2);
    // The larger one's axes, the first of equals.
    g::axes_view const axes = g::axes_of(root.value);
    root.axes.clear();
    for (int i = 0; i < axes.rank; ++i) root.axes += axes.axes[i]->name[0];
  }
  void twice() {
    text += " twice";
    g::handle const operands[] = {root.value, root.value};
    root.value = g::pointwise("test", opcode::multiply, operands, 2);
  }
  void contract() {
    int const more = 1 + (pick(4) == 0) + (pick(8) == 0);
    std::string all = root.axes;
    std::string pattern = root.axes;
    std::vector<g::handle> operands;
    operands.push_back(std::move(root.value));
    for (int i = 0; i < more; ++i) {
      std::string of = subset(all) + random_axes("abcdef", 1);
      // Products of large matrices: one axis in common, one of its own.
      if (is_large_ && !all.empty()) of = all.back() + random_axes("abcdef", 1);
      std::string unique;
      for (char const c : of)
        if (unique.find(c) == std::string::npos) unique += c;
      std::shuffle(unique.begin(), unique.end(), random_);
      lettered x = leaf(unique);
      operands.push_back(std::move(x.value));
      pattern += "," + x.axes;
      for (char const c : unique)
        if (all.find(c) == std::string::npos) all += c;
    }
    std::string result = subset(all);
    if (is_large_ && operands.size() == 2 && all.size() > 1) {
      result = all;
      result.erase(root.axes.empty() ? 0 : root.axes.size() - 1, 1);
    }
    std::shuffle(result.begin(), result.end(), random_);
    while (count_of(result) > 300000) result.pop_back();
    pattern += "->" + result;
    text += " einsum " + pattern;
    graph_test::small_spec const s(pattern);
    root = {g::einsum(s.spec, axes_of_letters(result), operands.data(), nullptr), result};
  }
  void merge_or_split() {
    char const merged = next_merged_;
    if (merged > 'l' || root.axes.size() < 2) return unary();
    ++next_merged_;
    std::string order = root.axes;
    if (pick(2) == 0) std::shuffle(order.begin(), order.end(), random_);
    std::size_t const at = static_cast<std::size_t>(pick(static_cast<int>(order.size()) - 1));
    extent(merged) = extent(order[at]) * extent(order[at + 1]);
    std::string const pattern = root.axes + "->" + order.substr(0, at) + "(" + order.substr(at, 2) +
                                ")" + order.substr(at + 2);
    std::string const to = order.substr(0, at) + merged + order.substr(at + 2);
    text += " rearrange " + pattern;
    graph_test::small_spec const s(pattern, {}, "rearrange");
    root = {g::rearrange(s.spec, axes_of_letters(to), root.value, nullptr), to};
  }
  void reduce() {
    if (root.axes.empty()) return unary();
    std::uint32_t const mask =
        1 + static_cast<std::uint32_t>(pick((1 << static_cast<int>(root.axes.size())) - 1));
    std::string to;
    for (std::size_t i = 0; i < root.axes.size(); ++i)
      if (!(mask >> i & 1)) to += root.axes[i];
    text += " reduce ->" + to;
    g::handle const x = std::move(root.value);
    root = {g::reduce(pick(2) == 0 ? g::reduction::sum : g::reduction::max, x, axes_of_letters(to),
                      mask, g::dtype_of(x)),
            to};
  }
  void view() {
    if (root.axes.empty()) return unary();
    int const axis = pick(static_cast<int>(root.axes.size()));
    text += " view";
    switch (pick(3)) {
      case 0:
        root = permuted(root);
        break;
      case 1:
        root.value = g::reverse(root.value, axis);
        break;
      default: {
        std::string to = root.axes;
        to.erase(static_cast<std::size_t>(axis), 1);
        root = {g::at(root.value, axes_of_letters(to), axis, 0), to};
      }
    }
  }
  void kernel() {
    if (root.axes.empty()) return unary();
    int const axis = pick(static_cast<int>(root.axes.size()));
    g::handle const x = std::move(root.value);
    switch (pick(5)) {
      case 0:
        text += " softmax";
        root.value = g::softmax(x, axis);
        break;
      case 1:
        text += " layer_norm";
        root.value = g::layer_norm(
            x, leaf(std::string(1, root.axes[static_cast<std::size_t>(axis)]), type_).value, {},
            axis, 1e-5);
        break;
      case 2:
        text += " rms_norm";
        root.value = g::rms_norm(x, {}, axis, 1e-5);
        break;
      case 3: {
        text += " concat";
        char const c = root.axes[static_cast<std::size_t>(axis)];
        if (next_merged_ > 'l' || c > 'f') {
          root.value = g::softmax(x, axis);
          break;
        }
        char const wide = next_merged_++;
        extent(wide) = 2 * extent(c);
        g::handle const parts[] = {x, leaf(root.axes, type_).value};
        root.axes[static_cast<std::size_t>(axis)] = wide;
        root.value = g::concat(parts, 2, axes_of_letters(root.axes), axis);
        break;
      }
      default:
        text += " cumsum";
        root.value = g::cumsum(x, axis, type_);
    }
  }
  void step() {
    switch (pick(10)) {
      case 0:
      case 1:
        return unary();
      case 2:
      case 3:
        return binary();
      case 4:
        return twice();
      case 5:
      case 6:
        return contract();
      case 7:
        return pick(2) == 0 ? merge_or_split() : view();
      case 8:
        return reduce();
      default:
        return kernel();
    }
  }

  std::mt19937 random_;
  dtype type_ = dtype::f32;
  std::int64_t extent_[12] = {};
  char next_merged_ = 'g';
  bool is_large_ = false;
  g::level const* level_;
};

}  // namespace plan_test
