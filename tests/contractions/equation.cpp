#include "tests/contractions/equation.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace ricci::contractions {
namespace {

letter_axis& find_letter(std::vector<letter_axis>& letters, char letter) {
  for (letter_axis& known : letters)
    if (known.letter == letter) return known;
  throw std::invalid_argument("no extent is given for `" + std::string(1, letter) + "`");
}

}  // namespace

equation read_equation(std::string_view text, std::string_view extents) {
  equation e;
  std::istringstream items{std::string(extents)};
  for (std::string item; items >> item;) {
    if (item.size() < 3 || item[1] != '=') throw std::invalid_argument("extents: " + item);
    letter_axis axis;
    axis.letter = item[0];
    axis.extent = std::stoll(item.substr(2));
    e.letters.push_back(axis);
  }
  std::size_t const comma = text.find(',');
  std::size_t const arrow = text.find("->");
  if (comma == text.npos || arrow == text.npos || comma > arrow)
    throw std::invalid_argument("equation: " + std::string(text));
  std::string_view const groups[tensors] = {
      text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
  for (int t = 0; t < tensors; ++t) {
    std::int64_t stride = 1;
    for (std::size_t i = groups[t].size(); i-- > 0;) {
      letter_axis& axis = find_letter(e.letters, groups[t][i]);
      axis.stands_in[t] = true;
      axis.stride[t] += stride;
      stride *= axis.extent;
      e.extents[t].insert(e.extents[t].begin(), axis.extent);
    }
  }
  return e;
}

std::int64_t equation::elements(tensor_id t) const {
  std::int64_t count = 1;
  for (std::int64_t extent : extents[t]) count *= extent;
  return count;
}

std::int64_t equation::products() const {
  std::int64_t count = 1;
  for (letter_axis const& axis : letters) count *= axis.extent;
  return count;
}

std::int64_t equation::products_an_element() const {
  std::int64_t count = 1;
  for (letter_axis const& axis : letters)
    if (!axis.stands_in[in_result]) count *= axis.extent;
  return count;
}

std::vector<letter_axis> equation::letters_of(tensor_id t) const {
  std::vector<letter_axis> own;
  for (letter_axis const& axis : letters)
    if (axis.stands_in[t]) own.push_back(axis);
  std::stable_sort(own.begin(), own.end(), [t](letter_axis const& a, letter_axis const& b) {
    return a.stride[t] > b.stride[t];
  });
  return own;
}

std::string equation::place(std::int64_t result_element) const {
  std::string text;
  for (letter_axis const& axis : letters_of(in_result)) {
    std::int64_t const position = result_element / axis.stride[in_result] % axis.extent;
    if (!text.empty()) text += ' ';
    text += axis.letter;
    text += '=';
    text += std::to_string(position);
  }
  return text;
}

}  // namespace ricci::contractions
