#pragma once

#include <map>
#include <string>
#include <vector>

#include <ricci/tensor/graph.hpp>

/// Patterns of one-letter indices for tests: "ab,bc->ac"; parentheses make an axis of several
/// factors, "(ab)c". The axes of operands and result are given apart.
namespace graph_test {

struct small_spec {
  ricci::graph::pattern_spec spec;
  std::string text;
  std::string names;  // of the indices, by id

  explicit small_spec(std::string pattern, std::map<char, std::int64_t> extents = {},
                      char const* who = "einsum")
      : text(std::move(pattern)) {
    spec.who = who;
    spec.text = text.c_str();
    std::vector<std::vector<int>> axes;
    bool inside = false;
    auto const flush = [&] {
      spec.code[spec.code_size++] = static_cast<std::int8_t>(axes.size());
      for (auto const& axis : axes) {
        spec.code[spec.code_size++] = static_cast<std::int8_t>(axis.size());
        for (int id : axis) spec.code[spec.code_size++] = static_cast<std::int8_t>(id);
      }
      axes.clear();
    };
    names.reserve(32);
    for (std::size_t i = 0; i < text.size(); ++i) {
      char const c = text[i];
      if (c == ',' || c == '-') {
        flush();
        ++spec.operands;
        if (c == '-') ++i;
      } else if (c == '(') {
        inside = true;
        axes.emplace_back();
      } else if (c == ')') {
        inside = false;
      } else {
        if (!inside) axes.emplace_back();
        std::size_t id = names.find(c);
        if (id == std::string::npos) {
          id = names.size();
          names += c;
        }
        axes.back().push_back(static_cast<int>(id));
      }
    }
    flush();
    spec.indices = static_cast<std::int16_t>(names.size());
    for (std::size_t id = 0; id < names.size(); ++id) {
      spec.name[id] = names.data() + id;
      spec.name_size[id] = 1;
      spec.extent[id] = extents.count(names[id]) ? extents[names[id]] : -1;
    }
  }
  small_spec(small_spec const&) = delete;
};

}  // namespace graph_test
