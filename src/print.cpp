#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/node.hpp>

#include "src/number_text.hpp"

namespace ricci::detail {
namespace {

// As NumPy: more elements than this are elided, to so many at each end of an axis; rows longer than
// so many characters go on below.
constexpr std::int64_t print_all_below = 1000;
constexpr std::int64_t edge = 3;
constexpr std::size_t line_width = 75;

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
  int rank;
  std::int64_t const* extents;
  std::int64_t const* strides;
  bool elide;
  std::vector<std::int64_t> places;  // of the elements shown, in order
  std::vector<std::string> texts;
  std::size_t next = 0;

  void collect(int axis, std::int64_t place) {
    if (axis == rank) {
      places.push_back(place);
      return;
    }
    for (std::int64_t const i : shown_positions(extents[axis], elide))
      if (i >= 0) collect(axis + 1, place + i * strides[axis]);
  }
  void print_row(std::ostream& out) {
    bool first_line = true;  // its indentation stands already: the brackets
    std::string const indent(static_cast<std::size_t>(rank), ' ');
    std::string line = indent;
    bool first = true;
    for (std::int64_t const i : shown_positions(extents[rank - 1], elide)) {
      std::string const& text = i < 0 ? elided : texts[next++];
      // One column is kept for each bracket that closes.
      if (!first && line.size() + 1 + text.size() + indent.size() > line_width) {
        line.erase(line.find_last_not_of(' ') + 1);
        out << std::string_view(line).substr(first_line ? indent.size() : 0) << '\n';
        first_line = false;
        line = indent;
      } else if (!first) {
        line += ' ';
      }
      line += text;
      first = false;
    }
    out << std::string_view(line).substr(first_line ? indent.size() : 0);
  }
  void print(std::ostream& out, int axis) {
    out << '[';
    if (axis + 1 == rank) {
      print_row(out);
    } else {
      bool first = true;
      for (std::int64_t const i : shown_positions(extents[axis], elide)) {
        if (!first)
          out << std::string(static_cast<std::size_t>(rank - axis - 1), '\n')
              << std::string(static_cast<std::size_t>(axis + 1), ' ');
        first = false;
        if (i < 0)
          out << elided;
        else
          print(out, axis + 1);
      }
    }
    out << ']';
  }

  std::string const elided = "...";
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
  dtype const type = graph::dtype_of(x);
  std::int64_t const* const extents = graph::extents(x);
  if (axes.rank == 0) return out << scalar_text(graph::data(x), type);
  out << name_of(type) << ' ' << shape_text(axes.axes, extents, axes.rank) << '\n';
  if (graph::element_count(x) == 0) return out << "[]";
  printer p{axes.rank, extents, graph::strides(x), graph::element_count(x) > print_all_below,
            {},        {}};
  p.collect(0, 0);
  p.texts = aligned_texts(graph::data(x), type, p.places);
  p.print(out, 0);
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
