#include <cstdio>
#include <cstring>

#include "src/plan/explained.hpp"

namespace ricci::detail {
namespace {

// Intermediates have axes without names: `index 3`.
bool has_name(axis_info const* axis) { return std::strncmp(axis->name, "index", 5) != 0; }

indexed_axes const& group_of(statement_contraction const& c, int g) {
  return g < c.operands ? c.group[g] : c.result;
}

// The place of an index among the factors of an axis of a group: the axis, -1 where it is none.
int axis_of_index(indexed_axes const& group, int id, int& factor, int& factors) {
  for (int axis = 0; axis < group.rank; ++axis)
    for (int i = group.begin[axis]; i < group.begin[axis + 1]; ++i)
      if (group.ids[i] == id) {
        factor = i - group.begin[axis];
        factors = group.begin[axis + 1] - group.begin[axis];
        return axis;
      }
  return -1;
}

// What value `v` calls an index of contraction `c`, whose group g it is; empty where it does not.
std::string name_in(explained const& e, statement_contraction const& c, int v, int g, int id,
                    bool is_factor_wanted) {
  int factor = 0;
  int factors = 0;
  int const axis = axis_of_index(group_of(c, g), id, factor, factors);
  if (axis < 0 || (factors > 1) != is_factor_wanted) return {};
  // The result's own axes may be unnamed; what they stand for is asked here.
  if (g == c.operands && !has_name(e.value(v).axes[axis])) return {};
  std::string name = axis_name(e, v, axis);
  if (factors > 1 && !name.empty()) name += "." + std::to_string(factor + 1);
  return name;
}

std::string name_of_index(explained const& e, int v, int id, bool result_first) {
  statement_value const& value = e.value(v);
  statement_contraction const& c =
      e.arrays.contractions[static_cast<std::size_t>(value.contraction)];
  for (bool const is_factor : {false, true}) {
    std::string const own = name_in(e, c, v, c.operands, id, is_factor);
    if (result_first && !own.empty()) return own;
    for (int g = 0; g < c.operands; ++g)
      if (std::string name = name_in(e, c, e.s().input(v, g), g, id, is_factor); !name.empty())
        return name;
    if (!own.empty()) return own;
  }
  return "index " + std::to_string(id);
}

}  // namespace

std::string axis_name(explained const& e, int value, int axis) {
  statement_value const& v = e.value(value);
  axis_info const* const info = v.axes[axis];
  if (has_name(info)) return std::string(info->view());
  switch (v.kind) {
    case value_kind::contraction: {
      statement_contraction const& c =
          e.arrays.contractions[static_cast<std::size_t>(v.contraction)];
      if (c.result.begin[axis + 1] - c.result.begin[axis] != 1) return {};
      return name_of_index(e, value, c.result.ids[c.result.begin[axis]], false);
    }
    case value_kind::reduction: {
      int from = 0;
      for (int kept = -1;; ++from) {
        kept += !(v.mask >> from & 1);
        if (kept == axis) break;
      }
      return axis_name(e, e.s().input(value, 0), from);
    }
    default:
      return {};
  }
}

std::vector<std::string> index_names(explained const& e, int value) {
  statement_value const& v = e.value(value);
  statement_contraction const& c = e.arrays.contractions[static_cast<std::size_t>(v.contraction)];
  std::uint32_t present = c.result.mask() | c.group[0].mask();
  if (c.operands == 2) present |= c.group[1].mask();
  std::vector<std::string> names(max_indices);
  for (int id = 0; id < max_indices; ++id)
    if (present >> id & 1) names[static_cast<std::size_t>(id)] = name_of_index(e, value, id, true);
  // Two indices that one name stands for: the result's is called as its operand calls it.
  for (int id = 0; id < max_indices; ++id)
    for (int other = 0; other < max_indices; ++other) {
      auto& name = names[static_cast<std::size_t>(id)];
      if (id == other || name.empty() || name != names[static_cast<std::size_t>(other)]) continue;
      if (c.result.mask() >> id & 1) name = name_of_index(e, value, id, false);
    }
  return names;
}

int explained::step_of(int id) const {
  for (std::size_t i = steps.size(); i-- > 0;) {
    plan_step const& step = steps[i];
    if (step.value == id && step.kind != step_kind::pack &&
        !(step.kind == step_kind::copy && step.origin != id))
      return static_cast<int>(i) + 1;
  }
  return 0;
}

std::string axes_text(explained const& e, int value) {
  std::string text;
  for (int i = 0; i < e.value(value).rank; ++i) {
    if (i > 0) text += " ";
    text += axis_name(e, value, i);
  }
  return text;
}

std::string value_text(explained const& e, int value) {
  int const step = e.step_of(value);
  return (step > 0 ? "#" + std::to_string(step) + " [" : "[") + axes_text(e, value) + "]";
}

std::string shape_text(explained const& e, int value) {
  std::string text = "[";
  for (int i = 0; i < e.value(value).rank; ++i) {
    if (i > 0) text += ", ";
    text += axis_name(e, value, i) + " " + std::to_string(e.s().extent(value, i));
  }
  return text + "]";
}

std::string short_number(std::int64_t number) {
  constexpr char const* units[] = {"", "k", "M", "G", "T", "P", "E"};
  double scaled = static_cast<double>(number);
  int unit = 0;
  // 999.5 would be written as 1000.
  while (scaled >= 999.5 && unit < 6) {
    scaled /= 1000;
    ++unit;
  }
  char text[32];
  if (unit == 0)
    std::snprintf(text, sizeof text, "%lld ", static_cast<long long>(number));
  else
    std::snprintf(text, sizeof text, "%.*f %s",
                  scaled < 9.995   ? 2
                  : scaled < 99.95 ? 1
                                   : 0,
                  scaled, units[unit]);
  return text;
}

}  // namespace ricci::detail
