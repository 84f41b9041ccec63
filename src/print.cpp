#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/node.hpp>
#include <ricci/tensor/visit_dtype.hpp>

namespace ricci::detail {
namespace {

// As NumPy: more elements than this are elided, to so many at each end of an axis.
constexpr std::int64_t print_all_below = 1000;
constexpr std::int64_t edge = 3;

template <class T> std::string element_text(T x) {
  if constexpr (std::is_same_v<T, boolean>)
    return x ? "true" : "false";
  else if constexpr (is_floating_v<T>)
    return fmt::format("{:.6g}", static_cast<double>(static_cast<accumulator_t<T>>(x)));
  else
    return fmt::format("{}", static_cast<std::int64_t>(x));
}

std::string element_text(void const* data, dtype type, std::int64_t place) {
  return visit(type, [&]<class T>(std::type_identity<T>) {
    return element_text(static_cast<T const*>(data)[place]);
  });
}

/// The positions of an axis that are shown; -1 stands for those left out.
std::vector<std::int64_t> shown_positions(std::int64_t extent, bool elide) {
  std::vector<std::int64_t> shown;
  for (std::int64_t i = 0; i < extent; ++i) {
    if (elide && extent > 2 * edge && i == edge) {
      shown.push_back(-1);
      i = extent - edge;
    }
    shown.push_back(i);
  }
  return shown;
}

struct printer {
  void const* data;
  dtype type;
  int rank;
  std::int64_t const* extents;
  std::int64_t const* strides;
  bool elide;
  std::size_t width = 0;

  void measure(int axis, std::int64_t place) {
    if (axis == rank) {
      width = std::max(width, element_text(data, type, place).size());
      return;
    }
    for (std::int64_t const i : shown_positions(extents[axis], elide))
      if (i >= 0) measure(axis + 1, place + i * strides[axis]);
  }
  void print(std::ostream& out, int axis, std::int64_t place) const {
    if (axis == rank) {
      out << fmt::format("{:>{}}", element_text(data, type, place), width);
      return;
    }
    out << '[';
    bool first = true;
    for (std::int64_t const i : shown_positions(extents[axis], elide)) {
      if (!first) {
        if (axis + 1 == rank)
          out << ' ';
        else
          out << std::string(static_cast<std::size_t>(rank - axis - 1), '\n')
              << std::string(static_cast<std::size_t>(axis + 1), ' ');
      }
      first = false;
      if (i < 0)
        out << "...";
      else
        print(out, axis + 1, place + i * strides[axis]);
    }
    out << ']';
  }
};

}  // namespace

std::string shape_text(axis_info const* const* axes, std::int64_t const* extents, int rank) {
  std::string text = "[";
  for (int i = 0; i < rank; ++i)
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", axes[i]->view(), extents[i]);
  return text + "]";
}

std::ostream& print_shape(std::ostream& out, axis_info const* const* axes,
                          std::int64_t const* extents, int rank) {
  return out << shape_text(axes, extents, rank);
}

std::ostream& print_value(std::ostream& out, graph::handle const& x) {
  if (!x) return out << "tensor (empty)";
  graph::evaluate(x);
  graph::axes_view const axes = graph::axes_of(x);
  printer p{graph::data(x),    graph::dtype_of(x), axes.rank,
            graph::extents(x), graph::strides(x),  graph::element_count(x) > print_all_below};
  p.measure(0, 0);
  if (axes.rank > 0)
    out << name_of(p.type) << ' ' << shape_text(axes.axes, p.extents, axes.rank) << '\n';
  p.print(out, 0, 0);
  return out;
}

void const* element(graph::handle const& x, std::int64_t const* positions) {
  graph::evaluate(x);
  graph::axes_view const axes = graph::axes_of(x);
  std::int64_t const* const extents = graph::extents(x);
  std::int64_t const* const strides = graph::strides(x);
  std::int64_t place = 0;
  for (int i = 0; i < axes.rank; ++i) {
    if (positions[i] < 0 || positions[i] >= extents[i])
      throw index_error(fmt::format("x(...): position {} is outside axis `{}` of {}", positions[i],
                                    axes.axes[i]->view(),
                                    shape_text(axes.axes, extents, axes.rank)));
    place += positions[i] * strides[i];
  }
  return static_cast<char const*>(graph::data(x)) + place * size_of(graph::dtype_of(x));
}

}  // namespace ricci::detail
