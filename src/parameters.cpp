#include <ricci/account/parameters.hpp>

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

namespace ricci {
namespace {

std::string axes_text(parameter_facts const& p) {
  std::string text = "[";
  for (std::size_t i = 0; i < p.axes.size(); ++i) {
    if (i > 0) text += ", ";
    text += p.axes[i];
    if (!p.extents.empty()) text += fmt::format(" {}", p.extents[i]);
  }
  return text + "]";
}

}  // namespace

std::int64_t parameter_list::elements() const {
  std::int64_t sum = 0;
  for (parameter_facts const& p : *this) sum += p.elements;
  return sum;
}

std::int64_t parameter_list::bytes() const {
  std::int64_t sum = 0;
  for (parameter_facts const& p : *this) sum += p.bytes;
  return sum;
}

std::ostream& operator<<(std::ostream& out, parameter_list const& list) {
  std::size_t name = 4;
  std::size_t axes = 4;
  for (parameter_facts const& p : list) {
    name = std::max(name, p.name.size());
    axes = std::max(axes, axes_text(p).size());
  }
  for (parameter_facts const& p : list)
    out << fmt::format("{:<{}}  {:<7}  {:<{}}  {:>14} bytes\n", p.name, name, name_of(p.type), axes_text(p), axes, p.bytes);
  return out << fmt::format("{} parameters, {} elements, {} bytes\n", list.size(), list.elements(), list.bytes());
}

parameter_list detail::list_parameters(std::vector<leaf> const& leaves) {
  parameter_list list;
  for (leaf const& l : leaves) {
    parameter_facts p;
    p.name = l.name;
    p.type = l.type;
    for (int i = 0; i < l.axes.rank; ++i) p.axes.emplace_back(l.axes.axes[i]->view());
    if (*l.handle) {
      std::int64_t const* const extents = graph::extents(*l.handle);
      p.extents.assign(extents, extents + l.axes.rank);
      p.elements = graph::element_count(*l.handle);
      p.bytes = p.elements * size_of(l.type);
    }
    list.push_back(std::move(p));
  }
  return list;
}

}  // namespace ricci
